type t =
  | Int of int
  | Microseconds of int
  | String of string
  | List of t list
  | Object of (string * t) list

let add_char buffer = function
  | '"' -> Buffer.add_string buffer "\\\""
  | '\\' -> Buffer.add_string buffer "\\\\"
  | ('\000' .. '\031' | '<' | '\127') as c ->
      Printf.bprintf buffer "\\u%04x" (Char.code c)
  | c -> Buffer.add_char buffer c

(* JSON must be UTF-8, so in other texts each byte beyond ASCII becomes a question mark. *)
let add_string buffer text =
  let text =
    if String.is_valid_utf_8 text then text
    else String.map (fun c -> if c < '\128' then c else '?') text
  in
  Buffer.add_char buffer '"';
  String.iter (add_char buffer) text;
  Buffer.add_char buffer '"'

let add_all buffer add_one all =
  List.iteri
    (fun i one ->
      if i > 0 then Buffer.add_char buffer ',';
      add_one one)
    all

let rec add buffer = function
  | Int n -> Printf.bprintf buffer "%d" n
  | Microseconds ns -> Printf.bprintf buffer "%d.%03d" (ns / 1000) (ns mod 1000)
  | String text -> add_string buffer text
  | List all ->
      Buffer.add_char buffer '[';
      add_all buffer (add buffer) all;
      Buffer.add_char buffer ']'
  | Object fields ->
      Buffer.add_char buffer '{';
      add_all buffer
        (fun (name, value) ->
          add_string buffer name;
          Buffer.add_char buffer ':';
          add buffer value)
        fields;
      Buffer.add_char buffer '}'
