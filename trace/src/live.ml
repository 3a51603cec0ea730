open Concord.Tools

type wait = {
  number : int;
  pid : int;
  task : Trace.task;
  domain : int;
  operation : string;
  structure : string;
  at : string;
  since_ns : int;
}

type group = {
  tasks : (int * int, unit) Hashtbl.t;
  mutable suspended : int;
  mutable resumed : int;
  mutable shown_suspended : int;
      (** How many of [suspended] earlier tables have counted. *)
  mutable shown_resumed : int;
}

(* The state of a task. The rings of domains are read one after the other, so an event may be
   read after a later event of the same task. An event before [latest_ns] is such a late one. *)
type state = {
  mutable latest_ns : int;
  mutable wait : wait option;
  mutable seen_in : group option;
}

type t = {
  profile : Profile.t;
  groups : (string * int, group) Hashtbl.t;
  states : (int * int, state) Hashtbl.t;
  resumed_first : (int * int, int) Hashtbl.t;
      (** The ends of waits whose beginnings were lost, or are not read yet. *)
  superseded : (int * int, int * wait) Hashtbl.t;
      (** Waits whose ends were lost, or are not read yet, and when their tasks
          did something later. *)
  lost_until : (int, int) Hashtbl.t;
      (** When the last loss of each process ended. *)
  mutable newest_ns : int;
  mutable unseen_ends : int;
  mutable number : int;
}

let create () =
  {
    profile = Profile.create ();
    groups = Hashtbl.create 10;
    states = Hashtbl.create 100;
    resumed_first = Hashtbl.create 10;
    superseded = Hashtbl.create 10;
    lost_until = Hashtbl.create 1;
    newest_ns = 0;
    unseen_ends = 0;
    number = 0;
  }

let number t = t.number
let profile t = t.profile

(* [false] if the event of its end may have been lost. *)
let is_sure t wait =
  match Hashtbl.find_opt t.lost_until wait.pid with
  | Some until_ns -> wait.since_ns >= until_ns
  | None -> true

let host_of (task : Trace.task) = if task.host = "" then "thread" else task.host

let group t (task : Trace.task) domain =
  let key = (host_of task, domain) in
  match Hashtbl.find_opt t.groups key with
  | Some group -> group
  | None ->
      let group =
        {
          tasks = Hashtbl.create 10;
          suspended = 0;
          resumed = 0;
          shown_suspended = 0;
          shown_resumed = 0;
        }
      in
      Hashtbl.replace t.groups key group;
      group

let leaves key state =
  Option.iter (fun group -> Hashtbl.remove group.tasks key) state.seen_in;
  state.seen_in <- None

(* A job of a pool may continue on another domain than before, so it has to leave the group of
   the domain on which it was seen last. *)
let enters key state group =
  leaves key state;
  state.seen_in <- Some group;
  Hashtbl.replace group.tasks key ()

let state t key =
  match Hashtbl.find_opt t.states key with
  | Some state -> state
  | None ->
      let state = { latest_ns = min_int; wait = None; seen_in = None } in
      Hashtbl.replace t.states key state;
      state

let ended t wait ~at_ns =
  let { operation; structure; at; since_ns; _ } = wait in
  Profile.add t.profile ~operation ~structure ~at (Int.max 0 (at_ns - since_ns))

let supersede t wait ~at_ns =
  Hashtbl.replace t.superseded (wait.pid, wait.number) (at_ns, wait)

(* If a task did something later, its wait must have ended. *)
let ends_older_wait t state ~at_ns =
  match state.wait with
  | Some wait when wait.since_ns <= at_ns ->
      supersede t wait ~at_ns;
      state.wait <- None
  | Some _ | None -> ()

let suspended t state wait =
  let key = (wait.pid, wait.number) in
  match Hashtbl.find_opt t.resumed_first key with
  | Some at_ns ->
      Hashtbl.remove t.resumed_first key;
      ended t wait ~at_ns
  | None ->
      if wait.since_ns >= state.latest_ns then begin
        ends_older_wait t state ~at_ns:wait.since_ns;
        state.wait <- Some wait
      end
      else supersede t wait ~at_ns:state.latest_ns

let resumed t state ~pid ~number ~at_ns =
  match state.wait with
  | Some wait when wait.number = number ->
      ended t wait ~at_ns;
      state.wait <- None
  | Some _ | None -> (
      ends_older_wait t state ~at_ns;
      match Hashtbl.find_opt t.superseded (pid, number) with
      | Some (_, wait) ->
          Hashtbl.remove t.superseded (pid, number);
          ended t wait ~at_ns
      | None -> Hashtbl.replace t.resumed_first (pid, number) at_ns)

let told t pid time_ns event =
  (* [f] compares the event with [state.latest_ns], so it runs before that is updated. *)
  let of_task (task : Trace.task) domain f =
    let key = (pid, task.id) in
    let state = state t key and group = group t task domain in
    f group state;
    if time_ns >= state.latest_ns then begin
      state.latest_ns <- time_ns;
      if Timeline.is_known task then enters key state group
    end
  in
  match event with
  | Trace.Suspended { wait; task; domain; operation; structure; at } ->
      of_task task domain (fun group state ->
          group.suspended <- group.suspended + 1;
          let number = wait and since_ns = time_ns in
          suspended t state
            { number; pid; task; domain; operation; structure; at; since_ns })
  | Resumed { wait; task; domain; _ } ->
      of_task task domain (fun group state ->
          group.resumed <- group.resumed + 1;
          resumed t state ~pid ~number:wait ~at_ns:time_ns)
  | Forked { task; domain; _ } -> of_task task domain (fun _ _ -> ())
  | Ended { task; domain } ->
      of_task task domain (fun _ state ->
          ends_older_wait t state ~at_ns:time_ns);
      leaves (pid, task.id) (state t (pid, task.id))
  | Mark { text; _ } -> Profile.mark t.profile text
  | Began _ | Woken _ | Queue _ -> ()

let add t Recorder.{ pid; time_ns; event } =
  t.newest_ns <- Int.max t.newest_ns time_ns;
  match event with
  | Told event ->
      t.number <- t.number + 1;
      told t pid time_ns event
  | Paused { pause; for_ns; _ } -> Profile.pause t.profile pause for_ns
  | Lost _ ->
      let before =
        Option.value (Hashtbl.find_opt t.lost_until pid) ~default:min_int
      in
      Hashtbl.replace t.lost_until pid (Int.max before time_ns)

(* Finished tasks and waits are kept while late events about them may still be read. Most hosts
   don't say when a task ends, so a task that doesn't wait is forgotten after a minute. *)
let late_ns = 3_000_000_000

(* If a server has a task for each request, those of a minute would be too many. *)
let most_states = 50_000

let idle_ns t =
  if Hashtbl.length t.states > most_states then late_ns else 60_000_000_000

let forget t =
  let idle_ns = idle_ns t in
  let is_older ns than_ns = ns < t.newest_ns - than_ns in
  let keep_state key state =
    match state with
    | { wait = Some _; _ } -> Some state
    | { seen_in = None; latest_ns; _ } ->
        if is_older latest_ns late_ns then None else Some state
    | { seen_in = Some _; latest_ns; _ } ->
        if is_older latest_ns idle_ns then begin
          leaves key state;
          None
        end
        else Some state
  and keep_end _ ns = if is_older ns late_ns then None else Some ns
  and keep_superseded _ ((ns, _) as superseded) =
    if is_older ns late_ns then begin
      t.unseen_ends <- t.unseen_ends + 1;
      None
    end
    else Some superseded
  in
  Hashtbl.filter_map_inplace keep_state t.states;
  Hashtbl.filter_map_inplace keep_end t.resumed_first;
  Hashtbl.filter_map_inplace keep_superseded t.superseded

let unseen_ends t = t.unseen_ends + Hashtbl.length t.superseded
let of_table table = List.of_seq (Hashtbl.to_seq table)
let key_of wait = (host_of wait.task, wait.domain)
let most_waits = 5

(* Of the waits that certainly continue, or of those whose ends may have been lost. *)
type waits = {
  mutable number : int;
  by_group : (string * int, int) Hashtbl.t;
  mutable longest : wait list;  (** The first [most_waits], longest first. *)
}

let rec insert wait = function
  | first :: rest when first.since_ns <= wait.since_ns ->
      first :: insert wait rest
  | shorter -> wait :: shorter

let count waits wait =
  let key = key_of wait in
  let before = Option.value (Hashtbl.find_opt waits.by_group key) ~default:0 in
  Hashtbl.replace waits.by_group key (before + 1);
  waits.number <- waits.number + 1;
  waits.longest <-
    List.filteri (fun i _ -> i < most_waits) (insert wait waits.longest)

let waits t =
  let none () = { number = 0; by_group = Hashtbl.create 10; longest = [] } in
  let sure = none () and unsure = none () in
  Hashtbl.iter
    (fun _ { wait; _ } ->
      Option.iter
        (fun wait -> count (if is_sure t wait then sure else unsure) wait)
        wait)
    t.states;
  (sure, unsure)

let in_group waits key =
  Option.value (Hashtbl.find_opt waits.by_group key) ~default:0

let wait_text ~now_ns ~is_sure { task; operation; structure; at; since_ns; _ } =
  Printf.sprintf "%8.2f s%c %-28s %-20s %s%s"
    (float_of_int (Int.max 0 (now_ns - since_ns)) *. 1e-9)
    (if is_sure then ' ' else '?')
    (Timeline.label task)
    (if operation = "" then "-" else operation)
    (if structure = "" then "" else structure ^ ", ")
    at

let per_second n since = if since > 0. then float_of_int n /. since else 0.

let reset t =
  Hashtbl.iter
    (fun _ group ->
      group.shown_suspended <- group.suspended;
      group.shown_resumed <- group.resumed)
    t.groups

let from_the_start t =
  Hashtbl.iter
    (fun _ group ->
      group.shown_suspended <- 0;
      group.shown_resumed <- 0)
    t.groups

let suspended group = group.suspended - group.shown_suspended
let resumed group = group.resumed - group.shown_resumed
let compare_keys (a, _) (b, _) = compare a b

let longest sure unsure =
  List.map (fun wait -> (true, wait)) sure.longest
  @ List.map (fun wait -> (false, wait)) unsure.longest
  |> List.filteri (fun i _ -> i < most_waits)

(* These lines say which numbers of the table aren't exact, because events were lost. *)
let warnings t unsure =
  let line n text = if n = 0 then [] else [ Printf.sprintf text n ] in
  line unsure.number "  ?: %d may have ended, because events were lost later"
  @ line
      (if Hashtbl.length t.lost_until = 0 then 0 else unseen_ends t)
      "  waits whose ends were lost: %d"

let table ?(at_most = max_int) t ~now_ns ~since =
  forget t;
  let all = List.sort compare_keys (of_table t.groups) in
  let sure, unsure = waits t in
  let warnings = warnings t unsure in
  let wait (is_sure, wait) = wait_text ~now_ns ~is_sure wait in
  let waits = List.map wait (longest sure unsure) @ warnings in
  let room = Int.max 1 (at_most - most_waits - List.length warnings - 3) in
  let shown = List.filteri (fun i _ -> i < room) all in
  let width =
    List.fold_left
      (fun width ((host, _), _) -> Int.max width (String.length host))
      16 shown
  in
  let row (((host, domain) as key), group) =
    Printf.sprintf "  %-*s %6d %7d %8d %12.1f %12.1f%s" width host domain
      (Hashtbl.length group.tasks)
      (in_group sure key)
      (per_second (suspended group) since)
      (per_second (resumed group) since)
      (if unsure.number = 0 then ""
       else Printf.sprintf " %9d" (in_group unsure key))
  in
  let head =
    Printf.sprintf "  %-*s %6s %7s %8s %12s %12s%s" width "host" "domain"
      "tasks" "waiting" "suspended/s" "resumed/s"
      (if unsure.number = 0 then "" else "  waiting?")
  and others =
    match List.length all - List.length shown with
    | 0 -> []
    | n -> [ Printf.sprintf "  and %d more" n ]
  in
  let rows = List.map row shown in
  reset t;
  (head :: rows) @ others
  @ if List.is_empty waits then [] else "  longest waits" :: waits

let line t ~now_ns ~since =
  forget t;
  let sum f = Hashtbl.fold (fun _ group n -> n + f group) t.groups 0 in
  let suspended = sum suspended and resumed = sum resumed in
  let sure, unsure = waits t in
  reset t;
  Printf.sprintf "%d waiting%s, %.1f suspended/s, %.1f resumed/s%s" sure.number
    (match unsure.number with
    | 0 -> ""
    | n -> Printf.sprintf " (and perhaps %d more, because events were lost)" n)
    (per_second suspended since)
    (per_second resumed since)
    (match longest sure unsure with
    | [] -> ""
    | (is_sure, wait) :: _ ->
        ", longest: " ^ String.trim (wait_text ~now_ns ~is_sure wait))
