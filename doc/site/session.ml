let start = "<pre class=\"language-ocaml\"><code>"
let stop = "</code></pre>"

let indentation line =
  let rec count i =
    if i < String.length line && line.[i] = ' ' then count (i + 1) else i
  in
  count 0

let is_blank line = indentation line = String.length line

let drop n line =
  let n = Int.min n (indentation line) in
  String.sub line n (String.length line - n)

(* odoc keeps the margin that every line has in the source. *)
let without_margin lines =
  let filled = List.filter (fun line -> not (is_blank line)) lines in
  let margin =
    List.fold_left
      (fun least line -> Int.min least (indentation line))
      max_int filled
  in
  List.map (fun line -> if is_blank line then "" else drop margin line) lines

let is_prompt line = String.starts_with ~prefix:"# " line

(* The indented lines after a prompt belong to the phrase. The first line without indentation
   begins the answer. *)
type place = Before | Phrase | Answer

let span name line = Printf.sprintf "<span class=\"%s\">%s</span>" name line

let session lines =
  let _, marked =
    List.fold_left_map
      (fun place line ->
        if is_prompt line then
          let phrase = String.sub line 2 (String.length line - 2) in
          (Phrase, span "prompt" "# " ^ span "input" phrase)
        else if place = Phrase && (is_blank line || indentation line >= 2) then
          (Phrase, span "prompt" "  " ^ span "input" (drop 2 line))
        else (Answer, span "answer" line))
      Before lines
  in
  Printf.sprintf "<pre class=\"session\"><code>%s</code></pre>"
    (String.concat "\n" marked)

let block code =
  let lines = without_margin (String.split_on_char '\n' code) in
  if List.exists is_prompt lines then session lines
  else start ^ String.concat "\n" lines ^ stop

let mark html =
  let buffer = Buffer.create (String.length html) in
  let rec go i =
    match Texts.find html ~from:i ~part:start with
    | None -> Buffer.add_substring buffer html i (String.length html - i)
    | Some j ->
        let code = j + String.length start in
        let last =
          Option.value (Texts.find html ~from:code ~part:stop) ~default:code
        in
        Buffer.add_substring buffer html i (j - i);
        Buffer.add_string buffer (block (String.sub html code (last - code)));
        go (last + String.length stop)
  in
  go 0;
  Buffer.contents buffer
