open Cmdliner
open Lwc

let show result =
  let text a = String.concat " " (List.map string_of_int (Array.to_list a)) in
  let n = Array.length result in
  if n <= 12 then text result
  else
    Printf.sprintf "%s ... %s"
      (text (Array.sub result 0 6))
      (text (Array.sub result (n - 3) 3))

let timed what f =
  let before = Unix.gettimeofday () in
  let v = f () in
  Printf.printf "%s: %.3f s\n%!" what (Unix.gettimeofday () -. before);
  v

let run program ~style ~n ~only_setup =
  let (module In_style : Program.S) = Program.in_style program style in
  let (module Written : Program.WRITTEN) = program in
  match
    let network = timed "set-up" (fun () -> In_style.setup n) in
    if only_setup then None
    else Some (timed "run" (fun () -> In_style.run network))
  with
  | exception Invalid_argument message ->
      (* only [setup] looks at [n] *)
      `Error (false, message)
  | exception (Failure message | Sys_error message) ->
      Printf.eprintf "%s\n%!" message;
      `Ok 1
  | None ->
      In_style.forget ();
      `Ok 0
  | Some result when result = Written.sequential n ->
      Printf.printf "result: %s\nas computed sequentially: yes\n" (show result);
      `Ok 0
  | Some result ->
      Printf.printf "result: %s\nas computed sequentially: no, that gives %s\n"
        (show result)
        (show (Written.sequential n));
      `Ok 1

(* --- The command line --- *)

let style =
  let names = String.concat ", " (List.map fst Style.all) in
  Arg.(
    value
    & opt (enum Style.all) (List.assoc "trampoline" Style.all)
    & info [ "style" ] ~docv:"STYLE" ~absent:"trampoline"
        ~doc:(Printf.sprintf "What the threads are; one of %s." names))

let natural =
  let parse text =
    match Arg.conv_parser Arg.int text with
    | Ok n when n >= 0 -> Ok n
    | Ok _ -> Error (`Msg (Printf.sprintf "%s is negative" text))
    | Error _ as error -> error
  in
  Arg.conv (parse, Arg.conv_printer Arg.int)

let n ~size ~default =
  Arg.(value & opt natural default & info [ "n" ] ~docv:"N" ~doc:size)

let only_setup =
  Arg.(
    value & flag & info [ "d" ] ~doc:"Spawn the threads, and do not start them.")

let main ~name ~doc ~size ~default program =
  let run style n only_setup = run program ~style ~n ~only_setup in
  let command =
    Cmd.v
      (Cmd.info name ~doc
         ~man:
           [
             `S Manpage.s_description;
             `P
               "A program of \"Light Weight Concurrency in OCaml\", on threads \
                of any style of concord.styles. It prints the time that it \
                took, its result, and whether that is the one of a sequential \
                computation; if not, it exits with 1.";
           ])
      Term.(ret (const run $ style $ n ~size ~default $ only_setup))
  in
  exit (Cmd.eval' command)
