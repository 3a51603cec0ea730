let path pid name = Printf.sprintf "/proc/%d/%s" pid name

let contents file =
  try Some (In_channel.with_open_bin file In_channel.input_all)
  with Sys_error _ -> None

let is_visible pid = Option.is_some (contents (path pid "status"))

let folder_of pid =
  let variable = "OCAML_RUNTIME_EVENTS_DIR=" in
  let value binding =
    if String.starts_with ~prefix:variable binding then
      let n = String.length variable in
      Some (String.sub binding n (String.length binding - n))
    else None
  in
  let named =
    Option.bind
      (contents (path pid "environ"))
      (fun text -> List.find_map value (String.split_on_char '\000' text))
  in
  match named with
  | Some folder when Filename.is_relative folder ->
      Filename.concat (path pid "cwd") folder
  | Some folder -> path pid "root" ^ folder
  | None -> path pid "cwd"

let field pid name =
  let value line =
    match String.split_on_char '\t' line with
    | first :: (_ :: _ as values) when first = name -> Some values
    | _ -> None
  in
  Option.bind
    (contents (path pid "status"))
    (fun text -> List.find_map value (String.split_on_char '\n' text))

(* The last number is that in the innermost namespace. *)
let inner_pid pid =
  match Option.map List.rev (field pid "NSpid:") with
  | Some (last :: _) -> Option.value (int_of_string_opt last) ~default:pid
  | Some [] | None -> pid

let handles pid ~number =
  match field pid "SigCgt:" with
  | Some [ mask ] -> (
      match Int64.of_string_opt ("0x" ^ mask) with
      | Some mask -> Int64.logand mask (Int64.shift_left 1L (number - 1)) <> 0L
      | None -> false)
  | Some _ | None -> false

(* A process that has ended still has its number until its parent has asked for its status. *)
let is_alive pid =
  match Unix.kill pid 0 with
  | () -> (
      match field pid "State:" with
      | Some (state :: _) -> not (String.starts_with ~prefix:"Z" state)
      | Some [] | None -> true)
  | exception Unix.Unix_error _ -> false
