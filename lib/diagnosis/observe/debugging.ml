let words =
  match Sys.getenv_opt "CONCORD_DEBUG" with
  | None -> []
  | Some words ->
      String.split_on_char ',' words
      |> List.map String.trim
      |> List.filter (fun word -> word <> "")

let has word = List.mem word words

let value_after ~prefix given =
  if String.starts_with ~prefix given then
    let n = String.length prefix in
    Some (String.sub given n (String.length given - n))
  else None

(* The part of [given] after [word=], if [given] begins so. *)
let value word = value_after ~prefix:(word ^ "=")
let not_empty text = if text = "" then None else Some text

let seconds_of text =
  match float_of_string_opt text with
  | Some seconds when seconds > 0. && Float.is_finite seconds -> Some seconds
  | Some _ | None -> None

let seconds word =
  List.find_map (fun given -> Option.bind (value word given) seconds_of) words

let file_of text = Option.bind (value_after ~prefix:"json:" text) not_empty

let json word =
  List.find_map (fun given -> Option.bind (value word given) file_of) words

(* --- Mistakes --------------------------------------------------------------- *)

let flags =
  [ "waits"; "leaks"; "trace"; "sigquit"; "sigusr2"; "strict"; "metrics" ]

let with_seconds = [ "stall"; "slow" ]

let known =
  "waits, leaks, trace, sigquit, sigquit=json:FILE, sigusr2, strict, metrics, \
   stall=SECONDS, slow=SECONDS"

let seconds_mistake given =
  let mistake word =
    match value word given with
    | Some text when Option.is_none (seconds_of text) ->
        Some
          (Printf.sprintf
             "CONCORD_DEBUG contains %S, but the seconds must be a positive \
              number, as in %s=5"
             given word)
    | Some _ | None -> None
  in
  List.find_map mistake with_seconds

let is_known given =
  List.mem given flags
  || List.exists (fun word -> Option.is_some (value word given)) with_seconds
  || Option.is_some (Option.bind (value "sigquit" given) file_of)

let mistake given =
  match seconds_mistake given with
  | Some _ as mistake -> mistake
  | None when is_known given -> None
  | None ->
      Some
        (Printf.sprintf
           "CONCORD_DEBUG contains the unknown word %S. The known words are %s"
           given known)

let mistakes () = List.filter_map mistake words
