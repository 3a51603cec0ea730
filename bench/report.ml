let processor () =
  let model line =
    match String.split_on_char ':' line with
    | [ key; name ] when String.trim key = "model name" ->
        Some (String.trim name)
    | _ -> None
  in
  try
    In_channel.with_open_text "/proc/cpuinfo" In_channel.input_lines
    |> List.find_map model
  with Sys_error _ -> None

let machine () =
  Printf.sprintf "%d cores%s, OCaml %s, profile %s"
    (Domain.recommended_domain_count ())
    (Option.fold ~none:"" ~some:(Printf.sprintf " (%s)") (processor ()))
    Sys.ocaml_version Build_profile.name

let effort (effort : Effort.t) =
  match effort.sample_ms with
  | Some ms ->
      Printf.sprintf
        "%d to %d samples of %.0f ms, until the median ratio is known to %g %% \
         and the claims are decided, fewer or shorter where there is no time%s"
        effort.enough effort.most ms (100. *. effort.error)
        (if effort.real_time then ", at real-time priority" else "")
  | None -> "a smoke run, whose figures mean nothing"

let conditions of_run = Printf.sprintf "%s; %s" (machine ()) (effort of_run)

let check_writable file =
  Out_channel.with_open_gen [ Open_append; Open_creat ] 0o644 file ignore
