(* An entry of the search has a title, an address, a kind and a text. *)

(* Words further down in a long text rarely tell what it is about. *)
let most = 1_000

let shorten text =
  let rec start_of_character i =
    if Char.code text.[i] land 0xc0 = 0x80 then start_of_character (i - 1)
    else i
  in
  if String.length text <= most then text
  else String.sub text 0 (start_of_character most)

let entry ~title ~url ~kind ~text =
  let text = shorten text in
  `Assoc
    [
      ("title", `String title);
      ("url", `String url);
      ("kind", `String kind);
      ("text", `String text);
    ]

(* --- Pages -------------------------------------------------------------------- *)

(* Cuts the content of a page at its headings, <h2 id="...">. Returns each part with its
   identifier. *)
let sections html =
  let is_heading i =
    i + 9 < String.length html
    && html.[i] = '<'
    && html.[i + 1] = 'h'
    && (html.[i + 2] = '2' || html.[i + 2] = '3')
    && String.sub html (i + 3) 5 = " id=\""
  in
  let rec cut first i =
    if i >= String.length html then
      [ String.sub html first (String.length html - first) ]
    else if i > first && is_heading i then
      String.sub html first (i - first) :: cut i (i + 1)
    else cut first (i + 1)
  in
  cut 0 0

let identifier section =
  let first = 8 in
  if String.length section > first && String.starts_with ~prefix:"<h" section
  then
    match String.index_from_opt section first '"' with
    | Some last -> Some (String.sub section first (last - first))
    | None -> None
  else None

let title_of ~page section =
  let rec look i =
    if i + 5 > String.length section then page
    else if String.sub section i 3 = "</h" then
      Page.text (String.sub section 0 i)
    else look (i + 1)
  in
  look 0

let of_page page =
  let url = Page.url page and title = page.Page.title in
  let of_section section =
    match identifier section with
    | None -> []
    | Some id ->
        [
          entry
            ~title:(title_of ~page:title section)
            ~url:(url ^ "#" ^ id)
            ~kind:title ~text:(Page.text section);
        ]
  in
  let sections = List.concat_map of_section (sections page.content) in
  (* Modules are in odoc's index. *)
  if page.is_module then sections
  else
    entry ~title ~url ~kind:"page" ~text:(Page.text page.preamble) :: sections

(* --- Odoc's index --------------------------------------------------------------- *)

open Yojson.Safe.Util

let kinds =
  [
    ("Value", "val");
    ("TypeDecl", "type");
    ("Module", "module");
    ("Exception", "exception");
    ("ModuleType", "module type");
    ("ExtensionConstructor", "extension");
  ]

let of_item json =
  let kind = to_string (member "kind" (member "kind" json)) in
  match List.assoc_opt kind kinds with
  | None -> []
  | Some kind ->
      let names =
        List.map
          (fun id -> to_string (member "name" id))
          (to_list (member "id" json))
      in
      [
        entry ~title:(String.concat "." names)
          ~url:(to_string (member "url" (member "display" json)))
          ~kind
          ~text:(to_string (member "doc" json));
      ]

let script ~index pages =
  let items = to_list (Yojson.Safe.from_string index) in
  let entries = List.concat_map of_page pages @ List.concat_map of_item items in
  "var entries = " ^ Yojson.Safe.to_string (`List entries) ^ "\n"
