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

let targets text =
  let add (n, found) line =
    match (waiting line, target line) with
    | Some n, _ -> (n, found)
    | None, Some target -> (n, List.init n (fun _ -> target) @ found)
    | None, None -> (n, found)
  in
  let _, found = List.fold_left add (0, []) (last_whole text) in
  List.sort compare found
