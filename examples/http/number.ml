(* [int_of_string] isn't used, because it also accepts 0x1f, 1_0 and +5. *)
let of_digits text =
  let is_digit c = c >= '0' && c <= '9' in
  if text = "" || not (String.for_all is_digit text) then None
  else
    match int_of_string_opt ("0u" ^ text) with
    | Some n when n >= 0 -> Some n
    | Some _ | None -> Some max_int
