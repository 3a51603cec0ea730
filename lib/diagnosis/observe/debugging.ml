let words =
  match Sys.getenv_opt "CONCORD_DEBUG" with
  | None -> []
  | Some words ->
      String.split_on_char ',' words
      |> List.map String.trim
      |> List.filter (fun word -> word <> "")

let has word = List.mem word words

(* The part of [given] after [word=], if [given] begins so. *)
let value word given =
  let prefix = word ^ "=" in
  if String.starts_with ~prefix given then
    let n = String.length prefix in
    Some (String.sub given n (String.length given - n))
  else None

let seconds_of text =
  match float_of_string_opt text with
  | Some seconds when seconds > 0. && Float.is_finite seconds -> Some seconds
  | Some _ | None -> None

let seconds word =
  List.find_map (fun given -> Option.bind (value word given) seconds_of) words

(* --- Mistakes --------------------------------------------------------------- *)

let flags = [ "waits"; "leaks"; "trace"; "sigquit"; "sigusr2"; "strict" ]
let known = "waits, leaks, trace, sigquit, sigusr2, strict, stall=SECONDS"

let mistake word =
  if List.mem word flags then None
  else
    match value "stall" word with
    | Some text when Option.is_some (seconds_of text) -> None
    | Some _ ->
        Some
          (Printf.sprintf
             "CONCORD_DEBUG contains %S, but the seconds must be a positive \
              number, as in stall=5"
             word)
    | None ->
        Some
          (Printf.sprintf
             "CONCORD_DEBUG contains the unknown word %S. The known words are \
              %s"
             word known)

let mistakes () = List.filter_map mistake words
