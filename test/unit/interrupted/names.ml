let folder = "../../../lib/structures/"

(* Removes comments, because a comment may show code. *)
let without_comments lines =
  let depth = ref 0 in
  List.filter
    (fun line ->
      let before = !depth in
      String.iteri
        (fun i c ->
          if i + 1 < String.length line then
            match (c, line.[i + 1]) with
            | '(', '*' -> incr depth
            | '*', ')' -> decr depth
            | _ -> ())
        line;
      before = 0)
    lines

let lines file =
  let lines = In_channel.with_open_text file In_channel.input_lines in
  let rec public = function
    | [] -> []
    | line :: _ when String.trim line = "(**/**)" -> []
    | line :: rest -> line :: public rest
  in
  without_comments (public lines)

let word line n = List.nth_opt (String.split_on_char ' ' (String.trim line)) n
let starts line prefix = String.starts_with ~prefix (String.trim line)

(* Returns the names of a signature and of those that it includes. [path] has the names of
   the modules around it. *)
let rec names path = function
  | [] -> []
  | line :: rest when starts line "val " ->
      let name = Option.get (word line 1) in
      String.concat "." (List.rev (name :: path)) :: names path rest
  | line :: rest
    when starts line "module " && String.ends_with ~suffix:": sig" line ->
      names (Option.get (word line 1) :: path) rest
  | "end" :: rest -> names (List.tl path) rest
  | line :: rest when starts line "include Reader.S " ->
      readers path @ names path rest
  | _ :: rest -> names path rest

(* Reads the signature [S] of [reader.mli]. *)
and readers path =
  let rec inside = function
    | [] -> []
    | "module type S = sig" :: rest -> until_end rest
    | _ :: rest -> inside rest
  and until_end = function
    | [] | "end" :: _ -> []
    | line :: rest -> line :: until_end rest
  in
  names path (inside (lines (folder ^ "reader.mli")))

let of_interface name =
  let file = folder ^ String.uncapitalize_ascii name ^ ".mli" in
  names [ name ] (lines file)

(* Reads the structures that [Concord] lists. *)
let of_interfaces () =
  let is_structure name =
    Sys.file_exists (folder ^ String.uncapitalize_ascii name ^ ".mli")
  in
  let alias line =
    if starts line "module " then
      match (word line 1, word line 2) with
      | Some name, Some "=" when is_structure name -> Some name
      | _ -> None
    else None
  in
  let index =
    In_channel.with_open_text "../../../lib/concord.ml" In_channel.input_lines
  in
  List.concat_map of_interface (List.filter_map alias index)
