(* Follows a page of the documentation as a reader does who has an empty folder.

   [follow PAGE FOLDER] writes each state whose output the page shows: FOLDER/1, FOLDER/2 and so
   on have the files, and besides them the file "command", which the page says to run, and the
   file "expected", with the output. FOLDER/end has the files at the end of the page. Those that
   the page offers for download are in FOLDER/downloads.

   The end of the text above a block says what to do with it:

   - Save this as [FILE]. With [dune], a new project begins, and keeps only [dune-project].
   - Add this at the end of [FILE].
   - Add this above [NAME]. Replace [NAME] and [NAME] with. Replace everything below [COMMENT]
     with. Replace [dune] with. A name is that of a definition at the beginning of a line, or
     [let ()], or a comment. The file is the one that was named last.
   - [COMMAND] prints.

   In a section with an instruction each block of OCaml or dune needs one. *)

let fail fmt = Printf.ksprintf failwith fmt

(* --- Text ------------------------------------------------------------------- *)

let rec last_position ?(from = 0) text part =
  match Texts.find text ~from ~part with
  | None -> None
  | Some i -> (
      match last_position ~from:(i + 1) text part with
      | None -> Some i
      | later -> later)

let after text part =
  Option.map
    (fun i ->
      let first = i + String.length part in
      String.sub text first (String.length text - first))
    (last_position text part)

(* The texts in square brackets. *)
let rec bracketed text =
  match String.index_opt text '[' with
  | None -> []
  | Some first -> (
      match String.index_from_opt text first ']' with
      | None -> []
      | Some last ->
          let rest = String.length text - last - 1 in
          String.sub text (first + 1) (last - first - 1)
          :: bracketed (String.sub text (last + 1) rest))

let starts prefix text = String.starts_with ~prefix text

let without_margin lines =
  let margin line =
    let rec count i =
      if i < String.length line && line.[i] = ' ' then count (i + 1) else i
    in
    if String.trim line = "" then max_int else count 0
  in
  let least = List.fold_left (fun n line -> Int.min n (margin line)) 80 lines in
  List.map
    (fun line ->
      if String.trim line = "" then ""
      else String.sub line least (String.length line - least))
    lines

(* --- A page ------------------------------------------------------------------ *)

type block = { above : string; kind : string; lines : string list }
type part = Heading | Text of string | Block of block

(* Markdown is read as if it were written for odoc. *)
let as_mld line =
  if starts "## " line then "{1 " ^ line
  else if line = "```" then "]}"
  else if starts "```" line then
    "{@" ^ String.sub line 3 (String.length line - 3) ^ "["
  else line

let kind_of line =
  if line = "{[" then Some "ocaml"
  else if starts "{@" line && String.ends_with ~suffix:"[" line then
    let words = String.sub line 2 (String.length line - 3) in
    Some (List.hd (String.split_on_char ' ' words))
  else None

(* Backquotes of Markdown become brackets. *)
let brackets text =
  let opens = ref false in
  String.map
    (function
      | '`' ->
          opens := not !opens;
          if !opens then '[' else ']'
      | c -> c)
    text

let parts ~markdown lines =
  let rec go above = function
    | [] -> []
    | line :: rest when starts "{1" line -> Heading :: go "" rest
    | line :: rest -> (
        match kind_of line with
        | Some kind -> inside above kind [] rest
        | None when line = "" || starts "<!--" line -> (
            match rest with
            | next :: _ when Option.is_some (kind_of next) || starts "<!--" next
              ->
                go above rest
            | _ -> Text above :: go "" rest)
        | None ->
            let line = if markdown then brackets line else line in
            go (if above = "" then line else above ^ " " ^ line) rest)
  and inside above kind block = function
    | [] -> fail "a block has no end"
    | "]}" :: rest ->
        Block { above; kind; lines = without_margin (List.rev block) }
        :: Text above :: go "" rest
    | line :: rest -> inside above kind (line :: block) rest
  in
  go "" (if markdown then List.map as_mld lines else lines)

(* --- The files ---------------------------------------------------------------- *)

(* A file in pieces, each of which begins with a definition or a comment. *)
type piece = { name : string; lines : string list }

let is_of_name c =
  match c with
  | 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_' | '\'' -> true
  | _ -> false

let name_of line =
  let words = String.split_on_char ' ' line in
  let name word = String.to_seq word |> Seq.take_while is_of_name in
  match words with
  | "let" :: "()" :: _ -> Some "let ()"
  | "let" :: "rec" :: word :: _
  | "type" :: ("'a" | "'b") :: word :: _
  | ("let" | "type" | "open" | "module" | "exception") :: word :: _ ->
      Some (String.of_seq (name word))
  | "(*" :: _ -> Some line
  | _ -> None

let pieces lines =
  List.fold_left
    (fun pieces line ->
      match (name_of line, pieces) with
      | Some name, _ -> { name; lines = [ line ] } :: pieces
      | None, [] -> [ { name = ""; lines = [ line ] } ]
      | None, piece :: rest ->
          { piece with lines = piece.lines @ [ line ] } :: rest)
    [] lines
  |> List.rev

let text_of pieces = List.concat_map (fun piece -> piece.lines) pieces

let rec before name = function
  | [] -> fail "there is no %s" name
  | piece :: rest when piece.name = name -> ([], piece, rest)
  | piece :: rest ->
      let above, found, below = before name rest in
      (piece :: above, found, below)

let replace names lines block =
  List.fold_left
    (fun (pieces, block) name ->
      let above, _, below = before name pieces in
      (above @ block @ below, []))
    (lines, [ { name = ""; lines = block } ])
    names
  |> fst |> text_of

type state = {
  files : (string * string list) list;
  file : string;  (** The one that was named last. *)
}

let save state file lines =
  { files = (file, lines) :: List.remove_assoc file state.files; file }

let edit state change =
  match List.assoc_opt state.file state.files with
  | None -> fail "there is no file %s" state.file
  | Some lines -> save state state.file (change lines)

(* --- Instructions --------------------------------------------------------------- *)

type instruction =
  | Save of string
  | Append of string
  | Above of string
  | Replace of string list
  | Replace_below of string
  | Replace_file of string
  | Prints of string

let instruction above =
  let the_one after = List.hd (bracketed after) in
  let known =
    [
      ("Save this as ", fun rest -> Save (the_one rest));
      ("Add this at the end of ", fun rest -> Append (the_one rest));
      ("Add this above ", fun rest -> Above (the_one rest));
      ("Replace everything below ", fun rest -> Replace_below (the_one rest));
      ( "Replace ",
        fun rest ->
          match bracketed rest with
          | [ "dune" ] -> Replace_file "dune"
          | names -> Replace names );
    ]
  in
  let prints () =
    match (last_position above "] prints", List.rev (bracketed above)) with
    | Some _, command :: _ -> Some (Prints command)
    | _ -> None
  in
  if not (String.ends_with ~suffix:":" above) then None
  else
    (* Of two, the one that stands further down. *)
    match
      List.filter_map
        (fun (words, make) ->
          Option.map
            (fun i -> (i, fun () -> make (Option.get (after above words))))
            (last_position above words))
        known
      |> List.sort (fun (i, _) (j, _) -> Int.compare j i)
    with
    | (_, make) :: _ -> Some (make ())
    | [] -> prints ()

let perform state block = function
  | Save "dune" ->
      let kept = List.filter (fun (name, _) -> name = "dune-project") in
      save { state with files = kept state.files } "dune" block
  | Save file -> save state file block
  | Replace_file file ->
      if not (List.mem_assoc file state.files) then fail "there is no %s" file;
      { (save state file block) with file = state.file }
  | Append file -> edit { state with file } (fun lines -> lines @ ("" :: block))
  | Above name ->
      edit state (fun lines ->
          let above, found, below = before name (pieces lines) in
          text_of above @ block @ [ "" ] @ text_of (found :: below))
  | Replace names ->
      edit state (fun lines -> replace names (pieces lines) (block @ [ "" ]))
  | Replace_below name ->
      edit state (fun lines ->
          let above, found, _ = before name (pieces lines) in
          text_of (above @ [ found ]) @ block)
  | Prints _ -> state

(* --- Following ------------------------------------------------------------------- *)

let rec make_folder folder =
  if not (Sys.file_exists folder) then begin
    make_folder (Filename.dirname folder);
    Sys.mkdir folder 0o777
  end

let write file lines =
  make_folder (Filename.dirname file);
  (* No line is empty at the end. *)
  let rec trim = function "" :: lines -> trim lines | lines -> lines in
  let lines = List.rev (trim (List.rev lines)) in
  Out_channel.with_open_bin file (fun out ->
      List.iter (fun line -> Out_channel.output_string out (line ^ "\n")) lines)

let ( / ) = Filename.concat

let write_files folder state =
  List.iter (fun (name, lines) -> write (folder / name) lines) state.files

let write_state folder state ~command ~expected =
  write_files folder state;
  write (folder / "command") [ command ];
  write (folder / "expected") expected

(* A download has the name of a file, or it is main.ml. *)
let write_download folder state link =
  let name = Filename.basename link in
  let file = if List.mem_assoc name state.files then name else "main.ml" in
  write (folder / "downloads" / name) (List.assoc file state.files)

let rec downloads text =
  match Texts.find text ~part:"Download {{:" with
  | None -> []
  | Some i ->
      let first = i + 12 in
      let last = String.index_from text first '}' in
      String.sub text first (last - first)
      :: downloads (String.sub text last (String.length text - last))

(* What a reader types into a toplevel doesn't belong to a file. *)
let is_session lines = List.exists (starts "# ") lines

let continues text =
  Option.map
    (fun rest -> List.hd (bracketed rest))
    (after text "You continue with ")

let rec sections = function
  | [] -> [ [] ]
  | Heading :: rest -> [] :: sections rest
  | part :: rest -> (
      match sections rest with
      | section :: others -> (part :: section) :: others
      | [] -> [ [ part ] ])

let () =
  let page = Sys.argv.(1) and folder = Sys.argv.(2) in
  let markdown = Filename.check_suffix page ".md" in
  let lines = In_channel.with_open_bin page In_channel.input_lines in
  let state = ref { files = []; file = "" } and shown = ref 0 in
  let has_instruction = function
    | Block { above; _ } -> Option.is_some (instruction above)
    | Heading | Text _ -> false
  in
  let follow = function
    | Heading -> ()
    | Text text ->
        List.iter (write_download folder !state) (downloads text);
        Option.iter (fun file -> state := { !state with file }) (continues text)
    | Block { above; kind; lines } -> (
        Option.iter
          (fun file -> state := { !state with file })
          (continues above);
        match instruction above with
        | Some (Prints command) ->
            incr shown;
            write_state
              (folder / string_of_int !shown)
              !state ~command ~expected:lines
        | Some instruction -> state := perform !state lines instruction
        | None when (kind = "ocaml" || kind = "dune") && not (is_session lines)
          ->
            fail "%s: nothing says where this belongs:\n%s" page
              (String.concat "\n" lines)
        | None -> ())
  in
  List.iter
    (fun section ->
      if List.exists has_instruction section then List.iter follow section)
    (sections (parts ~markdown lines));
  if !state.files = [] then fail "%s says nothing to save" page;
  write_files (folder / "end") !state
