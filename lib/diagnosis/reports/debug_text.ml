open Debug_report

let add = Printf.bprintf

let counted n what =
  if n = 1 then Printf.sprintf "1 %s" what
  else
    (* with commas, for example 12,000 *)
    let digits = string_of_int n in
    let grouped = Buffer.create 10 in
    String.iteri
      (fun i digit ->
        if i > 0 && (String.length digits - i) mod 3 = 0 then
          Buffer.add_char grouped ',';
        Buffer.add_char grouped digit)
      digits;
    Printf.sprintf "%s %ss" (Buffer.contents grouped) what

let wait_ n what =
  Printf.sprintf "%s %s" (counted n what) (if n = 1 then "waits" else "wait")

(* --- Parts of a wait ---------------------------------------------------------- *)

let max_lines = 10

let add_frames buffer ~indent backtrace =
  match Debug_frames.of_program backtrace with
  | [] ->
      add buffer "%s(%s)\n" indent
        (if List.is_empty (Debug_frames.all backtrace) then
           "no frames: compile with -g"
         else "no frame of the program, because this was a tail call")
  | frames ->
      List.iteri
        (fun i frame ->
          if i < max_lines then
            add buffer "%s%s\n" indent (Debug_frames.to_string frame))
        frames;
      let more = List.length frames - max_lines in
      if more > 0 then add buffer "%s(and %s)\n" indent (counted more "frame")

(* The name of a thread already says its domain, unless it is the first domain. *)
let where { host; _ } domain =
  if host = "" || domain = 0 then "" else Printf.sprintf " on domain %d" domain

(* Tasks of two schedulers may have the same name. Then the report adds their numbers. *)
type names = (string * string, int) Hashtbl.t

let several = -1

let names_of ({ waits; woken; running; _ } : Debug_report.report) : names =
  let ids = Hashtbl.create 16 in
  let add { id; host; name } =
    match Hashtbl.find_opt ids (host, name) with
    | None -> Hashtbl.add ids (host, name) id
    | Some other -> if other <> id then Hashtbl.replace ids (host, name) several
  in
  let add_target { holders; _ } = List.iter (fun { by; _ } -> add by) holders in
  let add_wait { task; targets; _ } =
    add task;
    List.iter add_target targets
  in
  List.iter add_wait waits;
  List.iter add_wait woken;
  List.iter (fun (running : running) -> add running.task) running;
  ids

let without_host (names : names) { id; host; name } =
  if id > 0 && Hashtbl.find_opt names (host, name) = Some several then
    Printf.sprintf "%s (id %d)" name id
  else name

let named names task =
  let name = without_host names task in
  if task.host = "" then name else task.host ^ ", " ^ name

let add_holder names buffer { by; domain; held_for; held_at } =
  let who = named names by ^ where by domain in
  if Printexc.raw_backtrace_length held_at = 0 then
    add buffer "    depends on %s\n" who
  else begin
    add buffer "    held by %s for %.1f s, taken at:\n" who held_for;
    add_frames buffer ~indent:"      " held_at
  end

let add_holders names buffer holders =
  List.iteri
    (fun i holder -> if i < max_lines then add_holder names buffer holder)
    holders;
  let more = List.length holders - max_lines in
  if more > 0 then add buffer "    (and by %s)\n" (counted more "other task")

(* Names in other scripts are shown as they are. *)
let quoted name =
  let escaped = function
    | '"' -> "\\\""
    | '\\' -> "\\\\"
    | ('\000' .. '\031' | '\127') as control -> Char.escaped control
    | other -> String.make 1 other
  in
  let parts = List.map escaped (List.of_seq (String.to_seq name)) in
  "\"" ^ String.concat "" parts ^ "\""

let operation { operation; structure; state; _ } =
  let operation =
    if operation = "" then "an operation without a name" else operation
  in
  operation
  ^ Option.fold structure ~none:"" ~some:(fun name -> " of " ^ quoted name)
  ^ if state = "" then "" else Printf.sprintf " (%s)" state

(* [others] are the corresponding targets of the other waits in the group. *)
let add_target names buffer before target others =
  let is_like f other = other == target || f other = f target in
  let all_like f = List.for_all (is_like f) others in
  add buffer "  %s %s%s\n" before (operation target)
    (if all_like (fun { structure; _ } -> structure) then "" else ", and others");
  Option.iter
    (fun made_at ->
      add buffer "    created at:\n";
      add_frames buffer ~indent:"      " made_at)
    target.made_at;
  add_holders names buffer target.holders;
  if not (all_like (fun { holders; _ } -> List.map (fun h -> h.by) holders))
  then
    add buffer
      "    (that is for the first task, and the others wait for other holders)\n"

(* Only the line of the fork is shown, because the rest of the stack is that of the parent. *)
let add_origin names buffer origin others =
  let line { forked_at; _ } =
    match Debug_frames.of_program forked_at with
    | frame :: _ -> " at " ^ Debug_frames.to_string frame
    | [] -> ""
  in
  let is_like other = Option.map line other = Option.map line origin in
  let add_line ({ parent; _ } as origin) =
    let by =
      if parent.id = 0 then "" else Printf.sprintf " by %s" (named names parent)
    in
    add buffer "  forked%s%s%s\n" by (line origin)
      (if List.for_all is_like others then "" else ", and elsewhere")
  in
  Option.iter add_line origin

(* Everything after the first line. *)
let add_rest names buffer { origin; targets; waits_at; _ } others =
  add_origin names buffer origin (List.map (fun { origin; _ } -> origin) others);
  let same_target i target =
    let is_same other =
      other.operation = target.operation && other.structure = target.structure
    in
    let of_other { targets; _ } =
      match List.find_opt is_same targets with
      | Some _ as found -> found
      | None -> List.nth_opt targets i
    in
    List.filter_map of_other others
  in
  let add_target i before target =
    add_target names buffer before target (same_target i target)
  in
  begin match targets with
  | [] -> add buffer "  in no structure\n"
  | [ target ] -> add_target 0 "in" target
  | targets ->
      List.iteri
        (fun i target ->
          add_target i (if i = 0 then "either in" else "or in") target)
        targets
  end;
  add buffer "  here:\n";
  add_frames buffer ~indent:"    " waits_at

type what = Waits | Was_woken

let add_wait ?(what = Waits) names buffer (wait : wait) =
  add buffer "%s%s" (named names wait.task) (where wait.task wait.domain);
  begin match what with
  | Waits -> add buffer " has waited for %.1f s\n" wait.waits_for
  | Was_woken ->
      add buffer " was woken %.1f s ago, but has not continued\n" wait.waits_for
  end;
  add_rest names buffer wait []

(* --- Groups of similar waits ------------------------------------------------------- *)

(* Waits in different structures form one group if these are made and held in the same way. An
   example is a promise for each connection. *)
type alike =
  (int * int * string) * (string * string option * int * (task * int) list) list

module By_alike = Hashtbl.Make (struct
  type t = alike

  let equal (a : t) b = a = b
  let hash (alike : t) = Hashtbl.hash_param 50 100 alike
end)

(* [remembering f v] is [f v]. If [v] is physically the same as the last one, it isn't computed
   again. Many tasks that wait in one structure share its holders. *)
let remembering f =
  let last = ref None in
  fun v ->
    match !last with
    | Some (before, found) when before == v -> found
    | Some _ | None ->
        let found = f v in
        last := Some (v, found);
        found

let alike () =
  let numbers = Hashtbl.create 100 in
  let number backtrace =
    let is_other frame = not (Debug_frames.is_of_stdlib frame) in
    let frames = List.filter is_other (Debug_frames.of_program backtrace) in
    match Hashtbl.find_opt numbers frames with
    | Some number -> number
    | None ->
        let number = Hashtbl.length numbers in
        Hashtbl.add numbers frames number;
        number
  in
  let number = Debug_frames.remembering number in
  let holder { by; held_at; _ } = (by, number held_at) in
  let holders = remembering (List.map holder) in
  let target { operation; structure; made_at; holders = held_by; _ } =
    ( operation,
      structure,
      Option.fold ~none:(-1) ~some:number made_at,
      holders held_by )
  in
  fun wait ->
    ( (number wait.waits_at, wait.domain, wait.task.host),
      List.sort compare (List.map target wait.targets) )

(* Leaves out the names of structures, and which tasks exactly hold them. *)
let roughly (where, targets) =
  let target (operation, _, made_at, holders) =
    let hosts = List.map (fun (by, _) -> (by.host, "", 0)) holders in
    let hosts = List.sort_uniq compare hosts in
    ( operation,
      None,
      made_at,
      List.map (fun (host, name, at) -> ({ id = 0; host; name }, at)) hosts )
  in
  (where, List.map target targets)

(* The groups are in the order of their first members. *)
let group key items =
  let table = By_alike.create 100 in
  let add keys item =
    let key = key item in
    match By_alike.find_opt table key with
    | Some group ->
        group := item :: !group;
        keys
    | None ->
        By_alike.add table key (ref [ item ]);
        key :: keys
  in
  List.fold_left add [] items
  |> List.rev_map (fun key -> (key, List.rev !(By_alike.find table key)))

(* If many groups are roughly alike, they become one. *)
let groups waits =
  group (alike ()) waits
  |> group (fun (key, _) -> roughly key)
  |> List.concat_map (fun (_, groups) ->
      let groups = List.map snd groups in
      if List.compare_length_with groups max_lines <= 0 then groups
      else [ List.concat groups ])

(* Tasks that the program has named come first. *)
let members names group =
  let is_named ({ task; _ } : wait) = String.contains task.name '"' in
  let first, others = List.partition is_named group in
  let shown =
    List.filteri (fun i _ -> i < max_lines) (first @ others)
    |> List.map (fun ({ task; _ } : wait) -> without_host names task)
  in
  let more = List.length group - max_lines in
  String.concat ", " shown
  ^ if more > 0 then Printf.sprintf ", and %s" (counted more "other") else ""

let range least most =
  let seconds = Printf.sprintf "%.1f" in
  if seconds least = seconds most then seconds least ^ " s"
  else Printf.sprintf "%s to %s s" (seconds least) (seconds most)

let add_group what names buffer = function
  | [] -> ()
  | [ wait ] -> add_wait ~what names buffer wait
  | first :: others as group ->
      let waited = List.map (fun wait -> wait.waits_for) group in
      let n = List.length group and { task; domain; _ } = first in
      let who =
        if task.host = "" then counted n "thread"
        else counted n "task" ^ " of " ^ task.host
      in
      let on =
        if domain = 0 then "" else Printf.sprintf " on domain %d" domain
      in
      let least = List.fold_left Float.min Float.infinity waited
      and most = List.fold_left Float.max 0. waited in
      let long = range least most in
      begin match what with
      | Waits -> add buffer "%s%s have waited for %s\n" who on long
      | Was_woken ->
          add buffer "%s%s were woken %s ago, but have not continued\n" who on
            long
      end;
      add buffer "  %s\n" (members names group);
      add_rest names buffer first others

(* --- All of it ------------------------------------------------------------------- *)

let add_cycle names buffer cycle =
  begin match cycle with
  | [ _ ] ->
      add buffer "Cycle of 1 task, which waits for what it holds itself\n"
  | _ ->
      add buffer
        "Cycle of %d tasks, each of which waits for a structure that the next \
         holds\n"
        (List.length cycle)
  end;
  List.iter (add_wait names buffer) cycle;
  add buffer "\n"

let add_groups ?(what = Waits) names buffer waits =
  List.iter (add_group what names buffer) (groups waits)

let add_running names buffer
    { task; on_domain; runs_for; waited_at; has_waited } =
  add buffer "  %s%s %s %.1f s ago, %s here:\n" (named names task)
    (where task on_domain)
    (if has_waited then "was resumed" else "began")
    runs_for
    (if has_waited then "after a wait" else "and was forked");
  add_frames buffer ~indent:"    " waited_at

(* Shows only tasks that may stand still, the longest first. *)
let add_all_running names buffer running =
  let is_long { runs_for; _ } = runs_for >= 0.1 in
  let longest a b = Float.compare b.runs_for a.runs_for in
  match List.sort longest (List.filter is_long running) with
  | [] -> ()
  | running ->
      add buffer
        "\n\
         Tasks that began or continued last in their threads, and have not \
         waited since:\n";
      List.iteri
        (fun i task -> if i < max_lines then add_running names buffer task)
        running;
      let more = List.length running - max_lines in
      if more > 0 then add buffer "  (and %s)\n" (counted more "other task")

let add_queue buffer { queue; kind; length; capacity } =
  let of_ =
    match capacity with None -> "" | Some n -> Printf.sprintf " of %d" n
  in
  add buffer "  %s \"%s\": %s%s\n" kind queue (counted length "item") of_

let add_queues buffer = function
  | [] -> ()
  | queues ->
      add buffer "\nNamed queues that are not empty, the longest first:\n";
      List.iteri
        (fun i queue -> if i < max_lines then add_queue buffer queue)
        queues;
      let more = List.length queues - max_lines in
      if more > 0 then add buffer "  (and %s)\n" (counted more "other queue")

let without some waits =
  let numbers = Hashtbl.create 10 in
  List.iter (fun { number; _ } -> Hashtbl.replace numbers number ()) some;
  List.filter (fun { number; _ } -> not (Hashtbl.mem numbers number)) waits

(* Each wait is shown once. *)
let of_report ({ cycles; behind; waits; woken; running; queues } as report) =
  let names = names_of report in
  let buffer = Buffer.create 1_000 in
  add buffer "concord: %s\n" (wait_ (List.length waits) "task");
  if not (List.is_empty woken) then
    add buffer "Woken, but not continued by their schedulers yet: %s\n"
      (counted (List.length woken) "task");
  add buffer "\n";
  List.iter (add_cycle names buffer) cycles;
  let others = without behind (without (List.concat cycles) waits) in
  if not (List.is_empty behind) then begin
    add buffer "Behind them: %s for the tasks above, or for each other\n"
      (wait_ (List.length behind) "task");
    add_groups names buffer behind;
    add buffer "\n"
  end;
  if not (List.is_empty cycles || List.is_empty others) then
    add buffer "Not in a cycle: %s\n" (wait_ (List.length others) "task");
  add_groups names buffer others;
  add_groups ~what:Was_woken names buffer woken;
  add_all_running names buffer running;
  add_queues buffer queues;
  Buffer.contents buffer
