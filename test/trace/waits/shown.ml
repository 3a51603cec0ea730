open Concord.Tools
open Concord.Private

(* The innermost line of the program is the same for both. Outer lines are not, because a suspended
   task doesn't have the stack of its scheduler. *)
let whole targets ~here =
  String.concat " or " (List.sort compare targets) ^ " @ " ^ here

let line targets lines =
  whole targets
    ~here:
      (match Debug_frames.of_lines lines with
      | [] -> "a tail call"
      | frame :: _ -> Debug_frames.to_string frame)

let has_line shown = not (String.ends_with ~suffix:"@ a tail call" shown)

let without_line shown =
  (* Neither operations nor names have this. *)
  match String.split_on_char '@' shown with
  | [ what; _ ] -> what
  | _ -> assert false

let target operation name =
  operation
  ^ match name with Some name -> Printf.sprintf " of %S" name | None -> ""

let lines_of backtrace =
  let line slot =
    Option.map
      (fun { Printexc.filename; line_number; _ } ->
        ( Option.value ~default:"" (Printexc.Slot.name slot),
          filename,
          line_number ))
      (Printexc.Slot.location slot)
  in
  match Printexc.backtrace_slots backtrace with
  | None -> []
  | Some slots -> List.filter_map line (Array.to_list slots)

let report { Debug.waits; _ } =
  let shown { Debug.targets; waits_at; _ } =
    line
      (List.map
         (fun { Debug.operation; structure; _ } -> target operation structure)
         targets)
      (lines_of waits_at)
  in
  List.sort compare (List.map shown waits)

let found { Concord_waits.Finder.waits; _ } =
  let shown { Concord_waits.Finder.targets; lines } =
    line
      (List.map
         (fun { Concord_waits.Finder.operation; name; _ } ->
           target operation name)
         targets)
      (List.map
         (fun { Concord_waits.Frame_table.name; file; line } ->
           (name, file, line))
         lines)
  in
  List.sort compare (List.map shown waits)
