(* The pages, their headings, and where a reference of one page leads. *)

let fail fmt = Printf.ksprintf failwith fmt
let starts prefix text = String.starts_with ~prefix text
let from text i = String.sub text i (String.length text - i)
let read file = In_channel.with_open_bin file In_channel.input_all

(* --- Files and headings --------------------------------------------------------- *)

let pages, interfaces, others =
  let files = List.tl (List.tl (Array.to_list Sys.argv)) in
  let pages, rest =
    List.partition (fun file -> Filename.check_suffix file ".mld") files
  in
  let interfaces, others =
    List.partition (fun file -> Filename.check_suffix file ".mli") rest
  in
  (pages, interfaces, others)

let name_of page = Filename.remove_extension (Filename.basename page)
let file_of name = if name = "index" then "README.md" else name ^ ".md"

(* The anchor that code hosts give to a heading. *)
let slug title =
  String.lowercase_ascii title
  |> String.to_seq
  |> Seq.filter_map (function
    | ('a' .. 'z' | '0' .. '9' | '_' | '-') as c -> Some c
    | ' ' -> Some '-'
    | c when Char.code c >= 128 -> Some c
    | _ -> None)
  |> String.of_seq

(* "{1:label Title}" is its level, its label and its title. *)
let heading line =
  let n = String.length line in
  if n > 3 && line.[0] = '{' && line.[1] >= '0' && line.[1] <= '5' then
    let level = Char.code line.[1] - Char.code '0' in
    let last = if line.[n - 1] = '}' then n - 1 else n in
    let words = String.sub line 2 (last - 2) in
    if words.[0] = ':' then
      match String.index_opt words ' ' with
      | Some i -> Some (level, String.sub words 1 (i - 1), from words (i + 1))
      | None -> None
    else Some (level, "", String.trim words)
  else None

let without_markup title =
  String.to_seq title
  |> Seq.filter (fun c -> c <> '[' && c <> ']')
  |> String.of_seq

(* The anchors of each page, by the label of the heading, which may be empty. *)
let labels =
  List.map
    (fun page ->
      let lines = String.split_on_char '\n' (read page) in
      let anchors =
        List.filter_map
          (fun line ->
            match heading line with
            | Some (_, label, title) -> Some (label, slug (without_markup title))
            | None -> None)
          lines
      in
      (name_of page, anchors))
    pages

let anchor ~page label =
  match List.assoc_opt page labels with
  | None -> fail "there is no page %s" page
  | Some anchors -> (
      match List.assoc_opt label anchors with
      | Some anchor -> "#" ^ anchor
      | None -> fail "page %s has no section %s" page label)

(* --- References ------------------------------------------------------------------ *)

(* The interface of a module, below the folder of the first module of the reference. *)
let interface ~below name =
  let file = String.uncapitalize_ascii name ^ ".mli" in
  List.find_opt
    (fun path -> Filename.basename path = file && starts below path)
    interfaces

let is_module name = name <> "" && Char.uppercase_ascii name.[0] = name.[0]

(* "Concord.Tasks.protect" is in the interface of the last module that has a file. *)
let interface_of reference =
  let names = String.split_on_char '.' reference in
  match interface ~below:"" (List.hd names) with
  | None -> None
  | Some first ->
      let below = Filename.dirname first ^ "/" in
      List.filter is_module names
      |> List.filter_map (interface ~below)
      |> List.rev
      |> fun found -> List.nth_opt found 0

let target ~page reference =
  let after prefix =
    if starts prefix reference then Some (from reference (String.length prefix))
    else None
  in
  match (after "page-", after "section-") with
  | Some name, _ -> (
      match String.split_on_char '.' name with
      | [ name ] ->
          if not (List.mem_assoc name labels) then fail "no page %s" name;
          Some (file_of name)
      | [ name; label ] -> Some (file_of name ^ anchor ~page:name label)
      | _ -> fail "what is %s?" reference)
  | None, Some label -> Some (anchor ~page label)
  | None, None ->
      if starts "/" reference then
        (* The index of a package, such as /concord-eio/index. *)
        None
      else if is_module reference then interface_of reference
      else Some (anchor ~page reference)

(* The name that a reader knows: "Concord.Mutex", and "Suspend" for "Concord.Tools.extension-Suspend". *)
let shown reference =
  String.split_on_char '.' reference
  |> List.map (fun name ->
      match String.rindex_opt name '-' with
      | Some i -> from name (i + 1)
      | None -> name)
  |> String.concat "."

let link text = function
  | None -> text
  | Some target -> Printf.sprintf "[%s](%s)" text target
