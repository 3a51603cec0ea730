let has pattern line = Str.string_match (Str.regexp pattern) line 0
let first_line = "concord: [0-9]+ tasks? waits?$"

(* A report is whole once the next one begins. *)
let last_whole text =
  let add (whole, current) line =
    if has first_line line then (current, [ line ]) else (whole, line :: current)
  in
  let whole, _ = List.fold_left add ([], []) (String.split_on_char '\n' text) in
  List.rev whole

(* The number of tasks of an entry that begins with this line, such as "2 tasks of eio have waited
   for 0.1 s". *)
let waiting line =
  if String.starts_with ~prefix:" " line then None
  else if has "[0-9]+ \\(tasks of\\|threads\\).* have waited for" line then
    Some (Scanf.sscanf line "%d" Fun.id)
  else if has ".* has waited for" line then Some 1
  else if has ".*\\(was\\|were\\) woken" line then Some 0
  else None

let before text part =
  match Str.search_forward (Str.regexp part) text 0 with
  | at -> String.sub text 0 at
  | exception Not_found -> text

(* For example "  in Stream.add of \"jobs\" (2 of 2 items)" *)
let target line =
  let after word =
    if String.starts_with ~prefix:word line then
      let n = String.length word in
      Some
        (before (String.sub line n (String.length line - n)) "\\( (\\|, and\\)")
    else None
  in
  match List.find_map after [ "  in "; "  either in "; "  or in " ] with
  | Some "no structure" | None -> None
  | target -> target

(* A wait has one target or several, and then the innermost line of the program. *)
type entry = { tasks : int; targets : string list }

let waits text =
  let add (entry, is_here, found) line =
    match (waiting line, target line) with
    | Some tasks, _ -> ({ tasks; targets = [] }, false, found)
    | None, Some target ->
        ({ entry with targets = target :: entry.targets }, false, found)
    | None, None when line = "  here:" -> (entry, true, found)
    | None, None when is_here ->
        let line = String.trim line in
        let here =
          if String.starts_with ~prefix:"(no frame" line then "a tail call"
          else line
        in
        let wait = Shown.whole entry.targets ~here in
        (entry, false, List.init entry.tasks (fun _ -> wait) @ found)
    | None, None -> (entry, false, found)
  in
  let _, _, found =
    List.fold_left add
      ({ tasks = 0; targets = [] }, false, [])
      (last_whole text)
  in
  List.sort compare found
