(* Translates the pages of the manual from odoc's language to Markdown, which code hosts show.

   [markdown FOLDER FILE...] writes FOLDER/NAME.md for each page NAME.mld, and README.md for the
   index. The interfaces (.mli) among the files are the targets of links to modules. Two kinds of
   files are only checked: what a Markdown file links to in doc/ has to exist, and the site's
   contents (.txt) have to list each page.

   Only what the pages use is translated, and everything else is an error. *)

open Pages

(* --- Text in a line -------------------------------------------------------------- *)

(* The position of the bracket that closes the one at [i]. *)
let closing text i =
  let opening = text.[i] in
  let close = if opening = '[' then ']' else '}' in
  let rec look depth i =
    if i >= String.length text then fail "not closed: %s" text
    else
      match text.[i] with
      | '\\' -> look depth (i + 2)
      | c when c = opening -> look (depth + 1) (i + 1)
      | c when c = close -> if depth = 1 then i else look (depth - 1) (i + 1)
      | _ -> look depth (i + 1)
  in
  look 0 i

let between text first last = String.sub text first (last - first)

let unescaped text =
  let buffer = Buffer.create (String.length text) in
  String.iteri
    (fun i c ->
      if c <> '\\' || i + 1 >= String.length text then Buffer.add_char buffer c
      else
        match text.[i + 1] with
        | '[' | ']' | '{' | '}' | '@' -> ()
        | _ -> Buffer.add_char buffer c)
    text;
  Buffer.contents buffer

let code ~in_table text =
  let text = unescaped text in
  let text =
    if in_table then String.concat "\\|" (String.split_on_char '|' text)
    else text
  in
  if String.contains text '`' then "`` " ^ text ^ " ``" else "`" ^ text ^ "`"

let attribute name html =
  let start = name ^ "=\"" in
  Option.map
    (fun i ->
      let first = i + String.length start in
      between html first (String.index_from html first '"'))
    (Texts.find html ~part:start)

let raw html =
  match (attribute "src" html, attribute "alt" html) with
  | Some src, Some alt -> Printf.sprintf "![%s](%s)" alt src
  | _ when starts "<style>" html -> ""
  | _ -> fail "this HTML is not translated: %s" html

let rec inline ?(in_table = false) ~page text =
  let inline = inline ~in_table ~page in
  let buffer = Buffer.create (String.length text) in
  let add = Buffer.add_string buffer in
  let rec go i =
    if i < String.length text then
      match text.[i] with
      | '[' ->
          let last = closing text i in
          add (code ~in_table (between text (i + 1) last));
          go (last + 1)
      | '{' ->
          let last = closing text i in
          add (braces (between text (i + 1) last));
          go (last + 1)
      | '\\' when i + 1 < String.length text ->
          add (String.sub text (i + 1) 1);
          go (i + 2)
      | '<' ->
          add "&lt;";
          go (i + 1)
      | ('*' | '`' | '_') as c ->
          add (Printf.sprintf "\\%c" c);
          go (i + 1)
      | c ->
          Buffer.add_char buffer c;
          go (i + 1)
  and braces content =
    (* A line may end after the command. *)
    let content = String.map (function '\n' -> ' ' | c -> c) content in
    if starts "%html:" content then
      raw (between content 6 (String.length content - 1))
    else if starts "b " content then "**" ^ inline (from content 2) ^ "**"
    else if starts "e " content || starts "i " content then
      "*" ^ inline (from content 2) ^ "*"
    else if starts "^ " content then
      "<sup>" ^ inline (from content 2) ^ "</sup>"
    else if starts "^" content then "<sup>" ^ inline (from content 1) ^ "</sup>"
    else if starts "!" content then
      let reference = from content 1 in
      link ("`" ^ shown reference ^ "`") (target ~page reference)
    else if starts ":" content then "<" ^ from content 1 ^ ">"
    else if starts "{!" content then
      let last = closing content 0 in
      link
        (inline (String.trim (from content (last + 1))))
        (target ~page (between content 2 last))
    else if starts "{:" content then
      let last = closing content 0 in
      link
        (inline (String.trim (from content (last + 1))))
        (Some (between content 2 last))
    else fail "%s: {%s} is not translated" page content
  in
  go 0;
  Buffer.contents buffer

(* --- Blocks ---------------------------------------------------------------------- *)

let indentation line =
  let rec count i =
    if i < String.length line && line.[i] = ' ' then count (i + 1) else i
  in
  count 0

let without_margin lines =
  let margin line =
    if String.trim line = "" then max_int else indentation line
  in
  let least = List.fold_left (fun n line -> Int.min n (margin line)) 80 lines in
  List.map
    (fun line -> if String.trim line = "" then "" else from line least)
    lines

(* "{[", "{@ocaml skip[" and "{@text file=a.txt[" have the languages ocaml, ocaml and text. *)
let language line =
  if line = "{[" then Some "ocaml"
  else if starts "{@" line && String.ends_with ~suffix:"[" line then
    Some
      (between line 2 (String.length line - 1)
      |> String.split_on_char ' ' |> List.hd)
  else None

let fence language = "```" ^ if language = "text" then "" else language

let rec until stop = function
  | [] -> fail "%s is missing" stop
  | line :: rest when line = stop -> ([], rest)
  | line :: rest ->
      let block, rest = until stop rest in
      (line :: block, rest)

(* The cells of "{tr {td a} {td b}}", and the items of "{li a}". *)
let groups kind text =
  let rec go i =
    match Texts.find text ~from:i ~part:("{" ^ kind ^ " ") with
    | None -> []
    | Some first ->
        let last = closing text first in
        let start = first + String.length kind + 2 in
        between text start last :: go (last + 1)
  in
  go 0

let table ~page text =
  let cells kind row =
    List.map (inline ~in_table:true ~page) (groups kind row)
  in
  let row cells = "| " ^ String.concat " | " cells ^ " |" in
  match groups "tr" text with
  | [] -> fail "%s: a table without rows" page
  | head :: rows ->
      let head = cells "th" head in
      row head
      :: row (List.map (fun _ -> "---") head)
      :: List.map (fun line -> row (cells "td" line)) rows

let translate page lines =
  let inline ?in_table text = inline ?in_table ~page text in
  (* A paragraph, or an item of a list with its continued lines, may have markup over several
     lines. *)
  let rec paragraph = function
    | line :: rest
      when line <> ""
           && language (String.trim line) = None
           && (not (starts "{t" line))
           && not (starts "{ul" line) ->
        let block, rest = paragraph rest in
        (line :: block, rest)
    | rest -> ([], rest)
  in
  let rec go = function
    | [] -> []
    | "" :: rest -> "" :: go rest
    | line :: rest when starts "@children_order" line -> go rest
    | line :: rest -> (
        match (heading line, language (String.trim line)) with
        | Some (level, _, title), _ ->
            (String.make (level + 1) '#' ^ " " ^ inline title) :: go rest
        | None, Some language ->
            let margin = String.make (indentation line) ' ' in
            let block, rest = until (margin ^ "]}") rest in
            List.map
              (fun line -> if line = "" then "" else margin ^ line)
              ((fence language :: without_margin block) @ [ "```" ])
            @ go rest
        | None, None when line = "{t" ->
            let rows, rest = until "}" rest in
            List.map (fun row -> inline_row row) rows @ go rest
        | None, None when starts "{table" line || starts "{ul" line ->
            let text = String.concat "\n" (line :: rest) in
            let last = closing text 0 in
            let block =
              let content = between text 0 last in
              if starts "{table" line then table ~page (between content 1 last)
              else
                List.map
                  (fun item ->
                    let words = String.split_on_char '\n' (String.trim item) in
                    "- "
                    ^ inline (String.concat " " (List.map String.trim words)))
                  (groups "-" content)
            in
            block @ go (String.split_on_char '\n' (from text (last + 1)))
        | None, None ->
            let block, rest = paragraph (line :: rest) in
            if block = [] then fail "%s: %s" page line;
            String.split_on_char '\n' (inline (String.concat "\n" block))
            @ go rest)
  (* The bars between cells stay as they are. *)
  and inline_row row =
    if String.for_all (String.contains "|-: ") row then row
    else inline ~in_table:true row
  in
  go lines

let rec without_double_blanks = function
  | "" :: "" :: rest -> without_double_blanks ("" :: rest)
  | line :: rest -> line :: without_double_blanks rest
  | [] -> []

let rec trim = function "" :: lines -> trim lines | lines -> lines

let write folder page =
  let name = name_of page in
  let lines =
    String.split_on_char '\n' (read page)
    |> translate name |> trim |> List.rev |> trim |> List.rev
    |> without_double_blanks
  in
  let note =
    Printf.sprintf
      "<!-- Made from %s. Change that file, then run ./dev fmt. -->"
      (Filename.basename page)
  in
  Out_channel.with_open_bin
    (Filename.concat folder (file_of name))
    (fun out ->
      List.iter
        (fun line -> Out_channel.output_string out (line ^ "\n"))
        (note :: "" :: lines))

(* Each link of a Markdown file into doc/ leads to a page, and to one of its headings. *)
let check file =
  let text = read file in
  let rec go i =
    match Texts.find text ~from:i ~part:"](doc/" with
    | None -> ()
    | Some first ->
        let first = first + 6 in
        let last = String.index_from text first ')' in
        let path = between text first last in
        let page, label =
          match String.split_on_char '#' path with
          | [ page ] -> (page, None)
          | page :: label :: _ -> (page, Some label)
          | [] -> (path, None)
        in
        let is_page (name, _) = file_of name = page in
        (match (List.find_opt is_page labels, label) with
        | None, _ when Filename.check_suffix page ".md" ->
            fail "%s: there is no page %s" file path
        | Some (_, anchors), Some label
          when not (List.exists (fun (_, anchor) -> anchor = label) anchors) ->
            fail "%s: page %s has no section %s" file page label
        | _ -> ());
        go last
  in
  go 0

let check_contents file =
  let lines = List.map String.trim (String.split_on_char '\n' (read file)) in
  List.iter
    (fun page ->
      let name = "concord/" ^ name_of page in
      if not (List.mem name lines || List.mem (name ^ "/index") lines) then
        fail "%s lacks %s" file name)
    pages

let () =
  let folder = Sys.argv.(1) in
  Sys.mkdir folder 0o777;
  List.iter (write folder) pages;
  let contents, documents =
    List.partition (fun file -> Filename.check_suffix file ".txt") others
  in
  List.iter check documents;
  List.iter check_contents contents
