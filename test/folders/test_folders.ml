(* lib/README.md lists the folders of the library in an order. No file may use a file of a
   later folder, so that there is no cycle among them. Each folder has a README that says which
   question it answers, which rule holds, and where to start.

   No other folder uses the diagnosis. The libraries below the diagnosis don't find it, but those
   above could name it as [Concord__diagnosis]. What a reader needs to know of a few modules is
   bounded, in modules and lines. An operation names a policy of spinning, and doesn't spin itself.

   The arguments are the folder lib, and the output of [ocamldep -modules] for its files. *)

let lib = Sys.argv.(1)
let lines file = In_channel.with_open_bin file In_channel.input_lines

(* The name in backquotes in the first column of the table. *)
let folder_of_row line =
  match String.split_on_char '|' line with
  | "" :: first :: _ :: _ -> (
      match String.split_on_char '`' first with
      | [ _; folder; _ ] -> Some folder
      | _ -> None)
  | _ -> None

let order = List.filter_map folder_of_row (lines (lib ^ "/README.md"))

(* The index of the public modules isn't in a folder, and comes last. *)
let rank folder =
  match List.find_index (String.equal folder) order with
  | Some rank -> rank
  | None -> List.length order

(* For example "../../lib/core/time/timer.ml: Deadlines Mtime_clock Unix". The path is made relative
   to lib. *)
let file_of_line line =
  let colon = String.index line ':' in
  let path = String.sub line 0 colon in
  let after = String.length lib + 1 in
  let path = String.sub path after (String.length path - after) in
  let uses =
    String.sub line (colon + 1) (String.length line - colon - 1)
    |> String.split_on_char ' '
    |> List.filter (( <> ) "")
  in
  (path, uses)

let module_of path =
  String.capitalize_ascii Filename.(remove_extension (basename path))

let is_apart path =
  (* [concord.fifo] is a separate library, which uses the index. The main module of the core is
     empty. *)
  String.starts_with ~prefix:"fifo/library/" path
  || Filename.remove_extension path = "core/concord__core"

let files =
  lines Sys.argv.(2)
  |> List.map file_of_line
  |> List.filter (fun (path, _) -> not (is_apart path))

let folders = Hashtbl.create 200

let () =
  List.iter
    (fun (path, _) ->
      let folder = Filename.dirname path in
      match Hashtbl.find_opt folders (module_of path) with
      | Some other when other <> folder ->
          Faults.add "%s is in lib/%s, too: one name, one module" path other
      | Some _ | None -> Hashtbl.replace folders (module_of path) folder)
    files

let is_listed folder = folder = "." || List.mem folder order

let look_at (path, uses) =
  let own = Filename.dirname path in
  let look_at used =
    match Hashtbl.find_opt folders used with
    | Some other when rank other > rank own ->
        Faults.add
          "lib/%s uses %s of lib/%s, which comes later in lib/README.md" path
          used other
    | Some _ | None -> ()
  in
  List.iter look_at uses

let readme folder =
  match lines (Printf.sprintf "%s/%s/README.md" lib folder) with
  | exception Sys_error _ -> Faults.add "lib/%s has no README.md" folder
  | text ->
      let says word =
        List.exists (String.starts_with ~prefix:("- " ^ word ^ ": ")) text
      in
      List.iter
        (fun word ->
          if not (says word) then
            Faults.add "lib/%s/README.md has no line \"- %s: ...\"" folder word)
        [ "Question"; "Rule"; "Start" ]

(* --- The diagnosis -------------------------------------------------------------- *)

let is_of_diagnosis folder =
  folder = "debug" || String.starts_with ~prefix:"diagnosis/" folder

let look_for_diagnosis (path, uses) =
  let own = Filename.dirname path in
  let look_for used =
    match Hashtbl.find_opt folders used with
    | Some other when is_of_diagnosis other ->
        Faults.add "lib/%s uses %s of the diagnosis, in lib/%s" path used other
    | Some _ -> ()
    | None ->
        if used = "Concord__diagnosis" then
          Faults.add "lib/%s uses the diagnosis, as %s" path used
  in
  if own <> "." && not (is_of_diagnosis own) then List.iter look_for uses

(* --- What a module rests on --------------------------------------------------- *)

let uses_of =
  let table = Hashtbl.create 200 in
  List.iter (fun (path, uses) -> Hashtbl.add table (module_of path) uses) files;
  fun name -> List.concat (Hashtbl.find_all table name)

let ml_of =
  let table = Hashtbl.create 200 in
  let add (path, _) =
    if Filename.check_suffix path ".ml" then
      Hashtbl.replace table (module_of path) path
  in
  List.iter add files;
  Hashtbl.find_opt table

let rec reached seen name =
  if List.mem name seen || not (Hashtbl.mem folders name) then seen
  else List.fold_left reached (name :: seen) (uses_of name)

let lines_of name =
  match ml_of name with
  | None -> 0
  | Some path -> List.length (lines (lib ^ "/" ^ path))

(* The lines are those of the implementations, with the module's own. *)
let bound (name, most_modules, most_lines) =
  let all = reached [] name in
  let modules = List.length all - 1
  and length = List.fold_left (fun n m -> n + lines_of m) 0 all in
  if modules < 5 then Faults.add "%s rests on %d modules only?" name modules;
  if modules > most_modules || length > most_lines then
    Faults.add
      "%s rests on %d modules with %d lines, but the bound is %d with %d. \
       Which of them need not be known?"
      name modules length most_modules most_lines

let bounds =
  [
    ("Mvar", 42, 5_194);
    ("Operation", 28, 3_133);
    ("Permits", 31, 3_621);
    ("Fifo", 64, 7_444);
  ]

(* --- Spinning ------------------------------------------------------------------- *)

let is_of_name c =
  match c with
  | 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_' | '\'' -> true
  | _ -> false

(* The values of this module that the line names, as [Module.value]. *)
let values_of name line =
  let prefix = name ^ "." and length = String.length line in
  let n = String.length prefix in
  let rec end_from j =
    if j < length && is_of_name line.[j] then end_from (j + 1) else j
  in
  let value_at i =
    if
      i + n <= length
      && String.sub line i n = prefix
      && (i = 0 || not (is_of_name line.[i - 1]))
    then Some (String.sub line (i + n) (end_from (i + n) - i - n))
    else None
  in
  List.filter_map value_at (List.init length Fun.id)

(* A structure that spun by itself would not learn from the spins of others, and would spin where the
   driver knows better: on one domain, in a choice, after spins in vain. *)
let policies = [ "pace"; "soon"; "mutex"; "bulk"; "enough"; "short" ]

let spins_itself name value =
  match (name, value) with
  | "Spin", policy -> not (List.mem policy policies)
  | "Operation", ("spin" | "may_spin")
  | "Domain", "cpu_relax"
  | "Atomically", "back_off"
  | "Thread", "yield" ->
      true
  | _ -> name = "Spinning"

(* [Condition.wait] takes a slot before it spins, so it has to know whether it will. *)
let has_a_reason path value =
  path = "structures/condition.ml" && value = "may_spin"

let may_not_spin folder = List.mem folder [ "events"; "structures"; "monadic" ]

let spinners =
  [ "Spin"; "Spinning"; "Operation"; "Domain"; "Atomically"; "Thread" ]

let policies_named = ref 0

let look_for_spinning (path, uses) =
  let look_at_value name value =
    if name = "Spin" then incr policies_named;
    if spins_itself name value && not (has_a_reason path value) then
      Faults.add
        "lib/%s has %s.%s, but an operation names a policy, and only the \
         driver spins (Operation.spin)"
        path name value
  in
  if may_not_spin (Filename.dirname path) then
    let text = lines (lib ^ "/" ^ path) in
    spinners
    |> List.filter (fun name -> List.mem name uses)
    |> List.iter (fun name ->
        List.concat_map (values_of name) text |> List.iter (look_at_value name))

(* What lib/README.md tells one to read exists, and isn't of the diagnosis. *)
let to_read =
  let is_item line = String.length line > 2 && line.[1] = '.' in
  lines (lib ^ "/README.md")
  |> List.filter is_item
  |> List.concat_map (String.split_on_char '`')
  |> List.filter (fun word ->
      Filename.check_suffix word ".ml" || Filename.check_suffix word ".mli")

let look_at_reading path =
  let folder = Filename.dirname path in
  if not (String.starts_with ~prefix:"../" path || List.mem_assoc path files)
  then Faults.add "lib/README.md tells one to read %s, which doesn't exist" path
  else if is_of_diagnosis folder then
    Faults.add "lib/README.md tells one to read %s, of the diagnosis" path

let () =
  if List.length to_read < 10 then
    Faults.add "lib/README.md lists only %d files to read" (List.length to_read);
  List.iter look_at_reading to_read;
  if List.length order < 10 || List.length files < 100 then
    Faults.add "only %d folders and %d files were found" (List.length order)
      (List.length files);
  Hashtbl.to_seq_values folders
  |> List.of_seq |> List.sort_uniq compare
  |> List.iter (fun folder ->
      if not (is_listed folder) then
        Faults.add "lib/%s is not in the table of lib/README.md" folder);
  List.iter look_at files;
  List.iter readme order;
  List.iter look_for_diagnosis files;
  List.iter look_for_spinning files;
  if !policies_named < 5 then
    Faults.add "only %d policies of spinning were found" !policies_named;
  List.iter bound bounds;
  Faults.stop ()
