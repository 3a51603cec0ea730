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
  let rec go i =
    if i < String.length html then
      match html.[i] with
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

(* Returns the items of an interface in their order. Headings come from odoc's own list, and
   the rest from the anchors of the items. *)
let items content =
  let kinds = [ "val-"; "type-"; "exception-"; "module-" ] in
  let rec go i =
    match String.index_from_opt content i '<' with
    | None -> []
    | Some i -> (
        let prefix = "<div class=\"spec " in
        let n = String.length prefix in
        if i + n > String.length content || String.sub content i n <> prefix
        then go (i + 1)
        else
          match String.index_from_opt content i '>' with
          | None -> []
          | Some last -> (
              let tag = String.sub content i (last - i) in
              match String.split_on_char '"' tag with
              | [ _; _; _; id; _ ] -> (
                  let id = text id in
                  let is_kind kind = String.starts_with ~prefix:kind id in
                  match List.find_opt is_kind kinds with
                  | None -> go last
                  | Some kind ->
                      let k = String.length kind in
                      let title = String.sub id k (String.length id - k) in
                      { link = { title; href = "#" ^ id }; sections = [] }
                      :: go last)
              | _ -> go last))
  in
  go 0

let crumb json =
  match member "href" json with
  | `String href -> [ { title = to_string (member "name" json); href } ]
  | _ -> []

let rec without_last = function
  | [] | [ _ ] -> []
  | x :: rest -> x :: without_last rest

let read ~root file =
  let json = Yojson.Safe.from_string (Files.read (Filename.concat root file)) in
  let html name = to_string (member name json) in
  let header = html "header" in
  {
    path = Filename.chop_suffix file ".json";
    title = text header;
    header;
    preamble = html "preamble";
    content = html "content";
    is_module = html "type" <> "documentation";
    contents =
      List.map section (to_list (member "toc" json)) @ items (html "content");
    (* The first one is the list of all packages, which is the start page here. *)
    above =
      (match to_list (member "breadcrumbs" json) with
      | [] -> []
      | _ :: crumbs -> List.concat_map crumb (without_last crumbs));
  }

let url t = t.path
