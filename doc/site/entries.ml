(* The index has entries, and for each word the entries that have it. An entry is a title, an
   address, a kind, the beginning of its text, and a weight. *)

type entry = {
  title : string;
  url : string;
  kind : string;
  text : string;
  weight : float;
}

(* Words further down in a long text rarely tell what it is about. *)
let most_searched = 1_000
let most_shown = 100

let shorten most text =
  let rec start_of_character i =
    if Char.code text.[i] land 0xc0 = 0x80 then start_of_character (i - 1)
    else i
  in
  if String.length text <= most then text
  else String.sub text 0 (start_of_character most)

(* --- Which entries come first ------------------------------------------------- *)

(* Pages that say why something isn't otherwise have all words of the others. *)
let of_history = [ "concord/decisions"; "concord/upstream"; "concord/design" ]

(* What a reader uses comes before what a few use. *)
let weight_of_place url =
  let starts prefix = String.starts_with ~prefix url in
  if List.exists starts of_history then 0.2
  else if starts "concord/Concord/Tools/" || starts "concord/Concord/Private/"
  then 0.4
  else if starts "concord/" then 1.2
  else if
    List.exists starts
      [ "concord-styles"; "concord-schedulers"; "concord-testkit" ]
  then 0.4
  else if starts "concord-lwt/Concord_lwt/" then 0.7
  else 0.8

let weight_of_kind = function
  | "module" -> 3.
  | "page" -> 2.5
  | "val" -> 1.2
  | "type" | "exception" | "module type" | "extension" -> 0.7
  | _ -> 1.5

let entry ~title ~url ~kind ~text =
  let weight = weight_of_place url *. weight_of_kind kind in
  { title; url; kind; text; weight }

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
  else entry ~title ~url ~kind:"page" ~text:(Page.about page) :: sections

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

(* A module that has a page of its own is found there, and not where another one lists it. *)
let of_module url =
  match Texts.find url ~part:"/index.html#module-" with
  | Some i when not (Texts.contains url ~part:"#module-type-") ->
      let first = i + String.length "/index.html#module-" in
      let name = String.sub url first (String.length url - first) in
      String.sub url 0 i ^ "/" ^ name ^ "/index.html"
  | _ -> url

let of_item ~urls json =
  let kind = to_string (member "kind" (member "kind" json)) in
  match List.assoc_opt kind kinds with
  | None -> []
  | Some kind ->
      let names =
        List.map
          (fun id -> to_string (member "name" id))
          (to_list (member "id" json))
      in
      let listed = to_string (member "url" (member "display" json)) in
      let own = of_module listed in
      [
        entry ~title:(String.concat "." names)
          ~url:(if List.mem own urls then own else listed)
          ~kind
          ~text:(to_string (member "doc" json));
      ]

(* The modules that a functor returns repeat another interface. Where odoc describes a functor's
   argument, the functor is the folder above. *)
let functors pages =
  List.filter_map
    (fun page ->
      let url = Page.url page in
      Option.map
        (fun i -> String.sub url 0 i ^ "/")
        (Texts.find url ~part:"/argument-"))
    pages
  |> List.sort_uniq compare

let is_copy functors { url; _ } =
  let is_below folder =
    String.starts_with ~prefix:folder url
    && not (String.starts_with ~prefix:(folder ^ "index.html") url)
  in
  (* The modules of a module type repeat those of a module too. *)
  let in_type =
    match Texts.find url ~part:"/module-type-" with
    | None -> false
    | Some i ->
        let first = String.index_from url (i + 1) '/' in
        Option.is_some (Texts.find url ~from:(first + 1) ~part:"/")
  in
  in_type || List.exists is_below functors

(* --- The index ------------------------------------------------------------------ *)

let is_of_word c =
  match c with
  | 'a' .. 'z' | '0' .. '9' | '_' | '\'' | '.' -> true
  | c -> Char.code c >= 128

(* Stream.take is found by the whole name and by each part. site.js does the same with what a
   reader types. *)
let words text =
  let text = String.lowercase_ascii text ^ " " in
  let found = ref [] and first = ref (-1) in
  String.iteri
    (fun i c ->
      if is_of_word c then
        begin if !first < 0 then first := i
        end
      else if !first >= 0 then begin
        found := String.sub text !first (i - !first) :: !found;
        first := -1
      end)
    text;
  List.concat_map
    (fun word ->
      let rec suffixes = function
        | [] -> []
        | _ :: rest as parts -> String.concat "." parts :: suffixes rest
      in
      let parts =
        List.filter (fun part -> part <> "") (String.split_on_char '.' word)
      in
      suffixes parts @ parts)
    !found
  |> List.sort_uniq compare
  |> List.filter (fun word ->
      String.length word < 40
      && not (String.for_all (String.contains "0123456789._'") word))

(* The entries of each word, those in whose title it stands before the others. *)
let postings entries =
  let table = Hashtbl.create 10_000 in
  let add in_title n word =
    let titles, texts =
      Option.value (Hashtbl.find_opt table word) ~default:([], [])
    in
    Hashtbl.replace table word
      (if in_title then (n :: titles, texts) else (titles, n :: texts))
  in
  List.iteri
    (fun n { title; text; _ } ->
      let of_title = words title in
      List.iter (add true n) of_title;
      List.iter
        (fun word -> if not (List.mem word of_title) then add false n word)
        (words (shorten most_searched text)))
    entries;
  (* A word of an eighth of all texts says nothing. *)
  let most = List.length entries / 8 in
  Hashtbl.fold
    (fun word (titles, texts) all ->
      let texts = if List.length texts > most then [] else texts in
      if titles = [] && texts = [] then all else (word, titles, texts) :: all)
    table []
  |> List.sort compare

(* --- Words of other libraries ------------------------------------------------------ *)

let synonyms ~urls text =
  let line line =
    match String.split_on_char '\t' line with
    | [ words; url ] ->
        if not (List.mem url urls) then
          failwith ("doc/site/synonyms.txt names " ^ url);
        List.map
          (fun word -> (String.lowercase_ascii (String.trim word), `String url))
          (String.split_on_char ',' words)
    | _ -> failwith ("doc/site/synonyms.txt: " ^ line)
  in
  String.split_on_char '\n' text
  |> List.filter (fun line ->
      line <> "" && not (String.starts_with ~prefix:"#" line))
  |> List.concat_map line

(* The text of a section begins with its title, which is shown already. *)
let beginning { title; text; _ } =
  let n = String.length title in
  if String.starts_with ~prefix:title text then
    String.trim (String.sub text n (String.length text - n))
  else text

let script ~index ~synonyms:text pages =
  let items = to_list (Yojson.Safe.from_string index) in
  let functors = functors pages in
  let is_shown page =
    not
      (is_copy functors
         (entry ~title:"" ~url:(Page.url page) ~kind:"" ~text:""))
  in
  let entries =
    List.concat_map of_page (List.filter is_shown pages)
    @ List.concat_map (of_item ~urls:(List.map Page.url pages)) items
    |> List.filter (fun entry -> not (is_copy functors entry))
  in
  let urls =
    List.map Page.url pages @ List.map (fun entry -> entry.url) entries
  in
  (* A list of entries has the distances between them, because these are shorter. *)
  let numbers list =
    List.sort Int.compare list
    |> List.fold_left_map (fun last n -> (n, `Int (n - last))) 0
    |> fun (_, distances) -> `List distances
  in
  let json =
    `Assoc
      [
        ( "entries",
          `List
            (List.map
               (fun ({ title; url; kind; weight; _ } as entry) ->
                 `List
                   [
                     `String title;
                     `String url;
                     `String kind;
                     `String (shorten most_shown (beginning entry));
                     `Float weight;
                   ])
               entries) );
        ( "words",
          `Assoc
            (List.map
               (fun (word, titles, texts) ->
                 (word, `List [ numbers titles; numbers texts ]))
               (postings entries)) );
        ("synonyms", `Assoc (synonyms ~urls text));
      ]
  in
  "var searched = " ^ Yojson.Safe.to_string json ^ "\n"
