let file name = "/proc/" ^ name
let is_there = Sys.file_exists (file "self/task")
let skip what = Printf.eprintf "skipped: %s: there is no /proc\n%!" what

let only what tests =
  if is_there then tests
  else begin
    skip what;
    []
  end

let program what run = if is_there then run () else skip what

let lines name =
  match In_channel.with_open_bin (file name) In_channel.input_all with
  | text -> String.split_on_char '\n' text
  | exception Sys_error _ -> []

let number name field =
  let value line =
    match String.split_on_char ':' line with
    | [ name; value ] when name = field -> Scanf.sscanf_opt value " %d" Fun.id
    | _ -> None
  in
  List.find_map value (lines name)

let this_thread () = Unix.readlink (file "thread-self")

let entries folder =
  try Array.to_list (Sys.readdir (file folder)) with Sys_error _ -> []

let threads () = List.length (entries "self/task")

(* One descriptor is subtracted because it only serves to read the folder. *)
let descriptors () = Int.max 0 (List.length (entries "self/fd") - 1)
