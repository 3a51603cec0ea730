type link = { title : string; href : string }
type section = { link : link; sections : section list }

type t = {
  path : string;
  title : string;
  header : string;
  preamble : string;
  content : string;
  is_module : bool;
  contents : section list;
  above : link list;
}

(* --- HTML as text ------------------------------------------------------------- *)

let entities =
  [ ("lt", "<"); ("gt", ">"); ("quot", "\""); ("#39", "'"); ("apos", "'") ]
  @ [ ("amp", "&"); ("nbsp", " "); ("#x27", "'"); ("#45", "-") ]

(* Returns the position after the entity at [i], and its text. *)
let entity html i =
  match String.index_from_opt html i ';' with
  | Some last when last - i < 8 -> (
      let name = String.sub html (i + 1) (last - i - 1) in
      match List.assoc_opt name entities with
      | Some text -> (last + 1, text)
      | None -> (i + 1, "&"))
  | Some _ | None -> (i + 1, "&")

let text html =
  let buffer = Buffer.create (String.length html) in
  let space () =
    let n = Buffer.length buffer in
    if n > 0 && Buffer.nth buffer (n - 1) <> ' ' then Buffer.add_char buffer ' '
  in
  let is_inline i =
    List.exists
      (fun tag ->
        let n = String.length tag in
        i + n <= String.length html && String.sub html i n = tag)
      [ "<code"; "</code"; "<span"; "</span"; "<a "; "</a"; "<b"; "</b" ]
  in
  let is_style i =
    let tag = "<style" in
    i + String.length tag < String.length html
    && String.sub html i (String.length tag) = tag
  in
  let rec go i =
    if i < String.length html then
      match html.[i] with
      | '<' when is_style i ->
          let stop = "</style>" in
          go
            (match Texts.find html ~from:i ~part:stop with
            | Some last -> last + String.length stop
            | None -> String.length html)
      | '<' ->
          if not (is_inline i) then space ();
          go
            (match String.index_from_opt html i '>' with
            | Some last -> last + 1
            | None -> String.length html)
      | '&' ->
          let next, text = entity html i in
          Buffer.add_string buffer text;
          go next
      | ' ' | '\n' | '\t' ->
          space ();
          go (i + 1)
      | c ->
          Buffer.add_char buffer c;
          go (i + 1)
  in
  go 0;
  String.trim (Buffer.contents buffer)

(* --- Odoc's JSON ---------------------------------------------------------------- *)

open Yojson.Safe.Util

let link json =
  {
    title = text (to_string (member "title" json));
    href = to_string (member "href" json);
  }

let rec section json =
  {
    link = link json;
    sections = List.map section (to_list (member "children" json));
  }

(* --- The outline of an interface -------------------------------------------------- *)

(* Odoc's own list has only the headings. This one has the items too, below theirs. *)
type entry = Heading of int * link | Item of link

let identifier tag =
  let start = " id=\"" in
  Option.bind (Texts.find tag ~part:start) (fun i ->
      let first = i + String.length start in
      Option.map
        (fun last -> text (String.sub tag first (last - first)))
        (String.index_from_opt tag first '"'))

(* Of "val-take" it is "take". *)
let item_title id =
  let kinds = [ "val-"; "type-"; "exception-"; "module-type-"; "module-" ] in
  Option.map
    (fun kind ->
      let k = String.length kind in
      String.sub id k (String.length id - k))
    (List.find_opt (fun kind -> String.starts_with ~prefix:kind id) kinds)

let level tag =
  if String.starts_with ~prefix:"h" tag && String.length tag > 2 then
    match tag.[1] with '2' .. '5' as c -> Some (Char.code c) | _ -> None
  else None

(* The entry of the tag whose text is [tag], which ends at [last]. *)
let entry html tag last =
  Option.bind (identifier tag) (fun id ->
      let href = "#" ^ id in
      match level tag with
      | Some level ->
          let stop = Option.get (Texts.find html ~from:last ~part:"</h") in
          let title = text (String.sub html last (stop - last)) in
          Some (Heading (level, { title; href }))
      | None when String.starts_with ~prefix:"div class=\"spec " tag ->
          Option.map (fun title -> Item { title; href }) (item_title id)
      | None -> None)

let rec entries html i =
  match String.index_from_opt html i '<' with
  | None -> []
  | Some first -> (
      match String.index_from_opt html first '>' with
      | None -> []
      | Some last ->
          let tag = String.sub html (first + 1) (last - first - 1) in
          Option.to_list (entry html tag (last + 1)) @ entries html (last + 1))

let outline html =
  (* The sections below a heading of this level, and the entries after them. *)
  let rec below level = function
    | Item link :: rest ->
        let others, rest = below level rest in
        ({ link; sections = [] } :: others, rest)
    | Heading (deeper, link) :: rest when deeper > level ->
        let sections, rest = below deeper rest in
        let others, rest = below level rest in
        ({ link; sections } :: others, rest)
    | rest -> ([], rest)
  in
  fst (below 0 (entries html 0))

let crumb json =
  match member "href" json with
  | `String href -> [ { title = to_string (member "name" json); href } ]
  | _ -> []

let rec without_last = function
  | [] | [ _ ] -> []
  | x :: rest -> x :: without_last rest

(* Where odoc finds no other name for a module, it shows the one that dune gives it, which
   begins with the library's and two underscores. *)
let rec without_alias html =
  match Texts.find html ~part:"__." with
  | None -> html
  | Some i ->
      let rec start i =
        if i > 0 && Breaks.is_letter html.[i - 1] then start (i - 1) else i
      in
      let last = i + 3 in
      String.sub html 0 (start i)
      ^ without_alias (String.sub html last (String.length html - last))

let read ~root file =
  let json = Yojson.Safe.from_string (Files.read (Filename.concat root file)) in
  let html name = without_alias (to_string (member name json)) in
  let header = html "header" in
  (* "concord/Concord/index.html", not "concord/index.html" or "concord/eio.html". *)
  let is_module = List.length (String.split_on_char '/' file) > 2 in
  {
    path = Filename.chop_suffix file ".json";
    title = text header;
    header;
    preamble = html "preamble";
    content = html "content";
    is_module;
    contents =
      (if is_module then outline (html "preamble" ^ html "content")
       else List.map section (to_list (member "toc" json)));
    (* The first one is the list of all packages, which is the start page here. *)
    above =
      (match to_list (member "breadcrumbs" json) with
      | [] -> []
      | _ :: crumbs -> List.concat_map crumb (without_last crumbs));
  }

let url t = t.path

let about t =
  let text = text t.preamble in
  match Texts.find text ~part:"To try the examples, start utop" with
  | None -> text
  | Some first ->
      let last =
        match Texts.find text ~from:first ~part:")." with
        | Some i -> i + String.length ")."
        | None -> String.length text
      in
      String.trim
        (String.sub text 0 first
        ^ String.trim (String.sub text last (String.length text - last)))
