let are_digits text =
  text <> "" && String.for_all (fun c -> c >= '0' && c <= '9') text

(* With the prefix, [int_of_string_opt] also returns numbers above [max_int], which are then
   negative. *)
let int text =
  if not (are_digits text) then None
  else
    match int_of_string_opt ("0u" ^ text) with
    | Some n when n >= 0 -> Some n
    | Some _ | None -> None

let int_or_max text =
  match int text with
  | None when are_digits text -> Some max_int
  | found -> found

(* So many digits that the number is infinite are refused. *)
let seconds text =
  let is_finite n = Float.is_finite n in
  match String.split_on_char '.' text with
  | ([ whole ] | [ whole; _ ]) when not (are_digits whole) -> None
  | [ _; part ] when not (are_digits part) -> None
  | [ _ ] | [ _; _ ] ->
      Option.bind (float_of_string_opt text) (fun n ->
          if is_finite n then Some n else None)
  | _ -> None
