open Concord.Private

let add = Printf.bprintf
let counted n what = Printf.sprintf "%d %s%s" n what (if n = 1 then "" else "s")

let waits n what =
  Printf.sprintf "%s %s" (counted n what) (if n = 1 then "waits" else "wait")

(* [others] are the structures of the waits that are shown as one. *)
let target { Finder.operation; structure; name } others =
  let operation =
    if operation = "" then "an operation without a name" else operation
  in
  match (name, List.sort_uniq Int.compare (structure :: others)) with
  | Some name, [ _ ] -> Printf.sprintf "%s of %S" operation name
  | Some name, all ->
      Printf.sprintf "%s of %d structures %S" operation (List.length all) name
  | None, [ at ] -> Printf.sprintf "%s of the structure at 0x%x" operation at
  | None, all ->
      Printf.sprintf "%s of %d structures" operation (List.length all)

let add_targets buffer targets others =
  List.iteri
    (fun i found ->
      let corresponding { Finder.targets; _ } =
        (List.nth targets i).structure
      in
      add buffer "  %s %s\n"
        (match targets with
        | [ _ ] -> "in"
        | _ -> if i = 0 then "either in" else "or in")
        (target found (List.map corresponding others)))
    targets

let max_lines = 10

let add_lines buffer lines =
  add buffer "  here:\n";
  let frames =
    Debug_frames.of_lines
      (List.map
         (fun { Frame_table.name; file; line } -> (name, file, line))
         lines)
  in
  if lines = [] then add buffer "    (no frames: compile with -g)\n"
  else if frames = [] then
    add buffer "    (no frame of the program, because this was a tail call)\n";
  List.iteri
    (fun i frame ->
      if i < max_lines then add buffer "    %s\n" (Debug_frames.to_string frame))
    frames;
  let more = List.length frames - max_lines in
  if more > 0 then add buffer "    (and %s)\n" (counted more "frame")

(* Waits that differ only in the task and the structure. The groups are in the order of their first
   members. *)
let groups waits =
  let table = Hashtbl.create 100 in
  let key { Finder.targets; lines } =
    ( List.map (fun { Finder.operation; name; _ } -> (operation, name)) targets,
      lines )
  in
  let add_to keys wait =
    let key = key wait in
    match Hashtbl.find_opt table key with
    | Some group ->
        group := wait :: !group;
        keys
    | None ->
        Hashtbl.add table key (ref [ wait ]);
        key :: keys
  in
  List.fold_left add_to [] waits
  |> List.rev_map (fun key -> List.rev !(Hashtbl.find table key))

let add_group buffer = function
  | [] -> ()
  | ({ Finder.targets; lines } as first) :: others ->
      add buffer "\n%s\n" (waits (List.length (first :: others)) "task");
      add_targets buffer targets others;
      add_lines buffer lines

let of_found pid { Finder.waits = found; unseen } =
  let buffer = Buffer.create 1_000 in
  add buffer "concord: %s%s in process %d%s\n"
    (if unseen > 0 then "at least " else "")
    (waits (List.length found) "task")
    pid
    (match Process.inner_pid pid with
    | Some inner -> Printf.sprintf " (%d in its container)" inner
    | None -> "");
  List.iter (add_group buffer) (groups found);
  if found = [] then
    add buffer
      "\n\
       If it hangs, it computes, or waits outside Concord, perhaps in a call \
       that blocks\n\
       the loop of its tasks. This shows what each thread does:\n\
      \  gdb -p %d -batch -ex 'thread apply all backtrace'\n"
      pid;
  if unseen > 0 then
    add buffer
      "\n\
       %s more may belong to waiting tasks, but were not looked at, so that \
       the process didn't stand still for longer.\n"
      (counted unseen "frame");
  add buffer
    "\n\
     This was read from outside, where the names of tasks, holders, cycles and \
     times\n\
     are unknown. A program that you start with CONCORD_DEBUG=sigquit reports \
     them.\n";
  Buffer.contents buffer
