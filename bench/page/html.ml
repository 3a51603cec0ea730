type t =
  | Text of string
  | Element of string * (string * string) list * t list
  | Void of string * (string * string) list

let text text = Text text
let el ?(attributes = []) name contents = Element (name, attributes, contents)
let void ?(attributes = []) name = Void (name, attributes)
let link address name = el "a" ~attributes:[ ("href", address) ] [ text name ]

let escape text =
  let buffer = Buffer.create (String.length text) in
  String.iter
    (function
      | '&' -> Buffer.add_string buffer "&amp;"
      | '<' -> Buffer.add_string buffer "&lt;"
      | '>' -> Buffer.add_string buffer "&gt;"
      | '"' -> Buffer.add_string buffer "&quot;"
      | '\'' -> Buffer.add_string buffer "&#39;"
      | c -> Buffer.add_char buffer c)
    text;
  Buffer.contents buffer

let table ~head rows =
  let cell name contents = el name [ contents ] in
  el "div"
    ~attributes:[ ("class", "wide") ]
    [
      el "table"
        [
          el "thead" [ el "tr" (List.map (fun h -> cell "th" (text h)) head) ];
          el "tbody"
            (List.map (fun row -> el "tr" (List.map (cell "td") row)) rows);
        ];
    ]

let starts_a_line = function
  | "a" | "b" | "code" | "em" | "span" | "td" | "th" -> false
  | _ -> true

let rec print buffer html =
  let add = Buffer.add_string buffer in
  let opening name attributes =
    if starts_a_line name then add "\n";
    add ("<" ^ name);
    List.iter
      (fun (key, value) -> add (Printf.sprintf " %s=\"%s\"" key (escape value)))
      attributes;
    add ">"
  in
  match html with
  | Text text -> add (escape text)
  | Void (name, attributes) -> opening name attributes
  | Element (name, attributes, contents) ->
      opening name attributes;
      List.iter (print buffer) contents;
      add ("</" ^ name ^ ">")

let document ~title ~style body =
  let buffer = Buffer.create 65536 in
  let add = Buffer.add_string buffer in
  add "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  add "<meta name=\"viewport\" content=\"width=device-width\">\n";
  add "<link rel=\"icon\" href=\"data:,\">\n";
  add (Printf.sprintf "<title>%s</title>\n" (escape title));
  add (Printf.sprintf "<style>\n%s</style>\n</head>\n<body>" style);
  List.iter (print buffer) body;
  add "\n</body>\n</html>\n";
  Buffer.contents buffer
