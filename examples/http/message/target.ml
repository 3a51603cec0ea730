let split target =
  match String.index_opt target '?' with
  | None -> (target, "")
  | Some i ->
      ( String.sub target 0 i,
        String.sub target (i + 1) (String.length target - i - 1) )

let path target =
  match String.split_on_char '/' (fst (split target)) with
  | "" :: path -> path
  | scheme :: "" :: _host :: path when String.lowercase_ascii scheme = "http:"
    ->
      path
  | _ -> []

let digit = function
  | '0' .. '9' as c -> Some (Char.code c - Char.code '0')
  | 'a' .. 'f' as c -> Some (Char.code c - Char.code 'a' + 10)
  | 'A' .. 'F' as c -> Some (Char.code c - Char.code 'A' + 10)
  | _ -> None

(* A per cent sign without two digits stands for itself. *)
let decode text =
  let length = String.length text in
  let decoded = Buffer.create length in
  let digit i = if i < length then digit text.[i] else None in
  let rec from i =
    if i < length then
      match (text.[i], digit (i + 1), digit (i + 2)) with
      | '%', Some high, Some low ->
          Buffer.add_char decoded (Char.chr ((16 * high) + low));
          from (i + 3)
      | c, _, _ ->
          Buffer.add_char decoded (if c = '+' then ' ' else c);
          from (i + 1)
  in
  from 0;
  Buffer.contents decoded

let parameter target name =
  let value field =
    match String.index_opt field '=' with
    | None -> if decode field = name then Some "" else None
    | Some i ->
        if decode (String.sub field 0 i) = name then
          Some (decode (String.sub field (i + 1) (String.length field - i - 1)))
        else None
  in
  List.find_map value (String.split_on_char '&' (snd (split target)))
