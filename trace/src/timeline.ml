open Concord.Tools

type actor = { pid : int; task : Trace.task; domain : int }
type wake = { by : actor; wake_ns : int; handed_over : bool }

type wait = {
  number : int;
  of_ : actor;
  operation : string;
  structure : string;
  at : string;
  begun_ns : int;
  ended_ns : int;
  is_sure : bool;
  outcome : Trace.outcome option;
  resumed_on : int;
  wake : wake option;
  stands_for : int;
}

let outcome_text wait =
  match wait.outcome with
  | None when wait.is_sure -> "still waits"
  | None -> "its end was lost"
  | Some Returned -> "returned"
  | Some Raised -> "raised"
  | Some Cancelled -> "cancelled"

type run = { by_ : actor; from_ns : int; until_ns : int }
type span = { pid : int; domain : int; from_ns : int; until_ns : int }
type zone = { from_ns : int; until_ns : int; left_out : int }
type lane = { row : int; name : string; fold : int }

type t = {
  waits : wait list;
  runs : run list;
  queues : (int * int * string * int * int) list;
  pauses : (span * Recorder.pause) list;
  losses : (span * int) list;
  marks : (actor * int * string) list;
  zones : zone list;
  from_ns : int;
  begun_ns : int;
  finished_ns : int;
  rows : (int * int, int) Hashtbl.t;
  lanes : (int, lane list) Hashtbl.t;
  folds : string array;
  processes : int list;
}

(* An operation of a monadic style waits without a task, because its caller continues. *)
let is_operation (task : Trace.task) = task.name = "an operation"

let is_known (task : Trace.task) =
  task.name <> "a task" && not (is_operation task)

let label (task : Trace.task) =
  if task.host = "" then task.name else task.host ^ ", " ^ task.name

(* --- Waits ------------------------------------------------------------------- *)

(* If a task does something later, its wait must have ended, even if that event was lost. If it
   does nothing later, the event that ended its wait may have been lost. *)
let waits_of items ~stands_for ~finished_ns =
  let open_ = Hashtbl.create 100 and wakes = Hashtbl.create 100 in
  let lost_until = Hashtbl.create 1 and closed = ref [] in
  let close_unseen key until_ns =
    match Hashtbl.find_opt open_ key with
    | None -> ()
    | Some wait ->
        Hashtbl.remove open_ key;
        closed := { wait with ended_ns = until_ns; is_sure = false } :: !closed
  in
  let told pid time_ns = function
    | Trace.Suspended { wait = number; task; domain; operation; structure; at }
      ->
        close_unseen (pid, task.id) time_ns;
        Hashtbl.replace open_ (pid, task.id)
          {
            number;
            of_ = { pid; task; domain };
            operation;
            structure;
            at;
            begun_ns = time_ns;
            ended_ns = finished_ns;
            is_sure = true;
            outcome = None;
            resumed_on = domain;
            wake = None;
            stands_for =
              Option.value
                (Hashtbl.find_opt stands_for (pid, number))
                ~default:1;
          }
    | Woken { wait; by; domain; suspended_on; _ } ->
        let by = { pid; task = by; domain } in
        Hashtbl.replace wakes (pid, wait)
          { by; wake_ns = time_ns; handed_over = domain <> suspended_on }
    | Resumed { wait = number; task; domain; outcome } -> (
        match Hashtbl.find_opt open_ (pid, task.id) with
        | Some wait when wait.number = number ->
            Hashtbl.remove open_ (pid, task.id);
            let ended_ns = time_ns and outcome = Some outcome in
            closed :=
              { wait with ended_ns; outcome; resumed_on = domain } :: !closed
        | Some _ | None ->
            (* The beginning of this wait was lost. *)
            close_unseen (pid, task.id) time_ns)
    | Ended { task; _ } -> close_unseen (pid, task.id) time_ns
    | Began _ | Forked _ | Queue _ | Mark _ -> ()
  in
  let add Recorder.{ pid; time_ns; event } =
    match event with
    | Told event -> told pid time_ns event
    | Lost _ -> Hashtbl.replace lost_until pid time_ns
    | Paused _ -> ()
  in
  List.iter add items;
  let with_wake wait =
    { wait with wake = Hashtbl.find_opt wakes (wait.of_.pid, wait.number) }
  and last wait =
    match Hashtbl.find_opt lost_until wait.of_.pid with
    | Some until_ns -> { wait with is_sure = wait.begun_ns >= until_ns }
    | None -> wait
  in
  List.rev_map with_wake !closed
  @ List.map last (List.of_seq (Hashtbl.to_seq_values open_))
  |> List.sort (fun (a : wait) (b : wait) -> Int.compare a.begun_ns b.begun_ns)

(* --- Runs -------------------------------------------------------------------- *)

(* Where items were left out, it isn't known which task runs. *)
let runs_of items ~(zones : zone list) ~finished_ns =
  let running = Hashtbl.create 10 and runs = ref [] in
  let zones = ref zones and zone_until_ns = ref min_int in
  let stop pid domain until_ns =
    match Hashtbl.find_opt running (pid, domain) with
    | None -> ()
    | Some (by_, from_ns) ->
        Hashtbl.remove running (pid, domain);
        runs := { by_; from_ns; until_ns = Int.max from_ns until_ns } :: !runs
  in
  let go_on pid task domain time_ns =
    stop pid domain time_ns;
    if time_ns >= !zone_until_ns then
      Hashtbl.replace running (pid, domain) ({ pid; task; domain }, time_ns)
  in
  let stop_all until_ns =
    List.of_seq (Hashtbl.to_seq_keys running)
    |> List.iter (fun (pid, domain) -> stop pid domain until_ns)
  in
  let rec pass time_ns =
    match !zones with
    | { from_ns; until_ns; _ } :: rest when from_ns <= time_ns ->
        stop_all from_ns;
        zone_until_ns := until_ns;
        zones := rest;
        pass time_ns
    | _ -> ()
  in
  let told pid time_ns = function
    | (Trace.Suspended { task; _ } | Resumed { task; _ }) when is_operation task
      ->
        ()
    | Suspended { domain; _ } | Ended { domain; _ } -> stop pid domain time_ns
    | Resumed { task; domain; _ } | Forked { task; domain; _ } ->
        go_on pid task domain time_ns
    | Began _ | Woken _ | Queue _ | Mark _ -> ()
  in
  let add Recorder.{ pid; time_ns; event } =
    pass time_ns;
    match event with
    | Told event -> told pid time_ns event
    | Lost { domain; since_ns; _ } -> stop pid domain since_ns
    | Paused _ -> ()
  in
  List.iter add items;
  stop_all finished_ns;
  List.rev !runs

(* --- Rows -------------------------------------------------------------------- *)

(* The span of time in which each task is drawn, from its first event to its last. *)
let spans waits runs marks =
  let spans = Hashtbl.create 100 in
  let add { pid; task; _ } from until =
    match Hashtbl.find_opt spans (pid, task.id) with
    | None -> Hashtbl.replace spans (pid, task.Trace.id) (task, from, until)
    | Some (task, first, last) ->
        Hashtbl.replace spans (pid, task.id)
          (task, Int.min first from, Int.max last until)
  in
  List.iter (fun w -> add w.of_ w.begun_ns w.ended_ns) waits;
  List.iter (fun r -> add r.by_ r.from_ns r.until_ns) runs;
  List.iter
    (fun (actor, ns, _) -> if is_known actor.task then add actor ns ns)
    marks;
  List.iter
    (fun { wake; _ } ->
      match wake with
      | Some { by; wake_ns; _ } when is_known by.task -> add by wake_ns wake_ns
      | Some _ | None -> ())
    waits;
  List.of_seq (Hashtbl.to_seq spans)
  |> List.sort (fun (_, (_, a, _)) (_, (_, b, _)) -> Int.compare a b)

(* The line that forked each task. If the fork wasn't seen, it is the line of its first wait. *)
let sites items waits =
  let sites = Hashtbl.create 100 in
  let add key at =
    if at <> "" && not (Hashtbl.mem sites key) then Hashtbl.replace sites key at
  in
  List.iter
    (fun Recorder.{ pid; event; _ } ->
      match event with
      | Told (Trace.Forked { task; at; _ }) -> add (pid, task.id) at
      | Told _ | Lost _ | Paused _ -> ())
    items;
  List.iter (fun (w : wait) -> add (w.of_.pid, w.of_.task.id) w.at) waits;
  sites

(* "fiber" of "fiber 12". *)
let kind_of name =
  let is_digit c = c >= '0' && c <= '9' in
  match String.rindex_opt name ' ' with
  | Some i
    when String.for_all is_digit
           (String.sub name (i + 1) (String.length name - i - 1)) ->
      String.sub name 0 i
  | Some _ | None -> name

let sort_of (task : Trace.task) =
  label (if is_known task then { task with name = kind_of task.name } else task)

(* The key and the title of the task's fold. Tasks of one fold share rows. *)
let fold_of sites ((pid, id), ((task : Trace.task), _, _)) =
  if not (is_known task) then ((pid, label task, ""), label task)
  else
    let kind = sort_of task ^ "s" in
    match Hashtbl.find_opt sites (pid, id) with
    | Some at ->
        ((pid, kind, at), Printf.sprintf "%s of %s" kind (Filename.basename at))
    | None -> ((pid, kind, ""), kind)

module Free = Set.Make (struct
  type t = int * int (* until when the lane is used, and the lane *)

  let compare = compare
end)

(* The slice at the end of an arrow takes a nanosecond ([Perfetto.shortest_ns]), so the next
   task of a lane begins later than that. *)
let gap_ns = 1

(* The lane of each task, from 0 on. A task gets the lane that has been free for longest. *)
let lanes_of spans =
  let add (free, used, found) (key, (task, from, until)) =
    match Free.min_elt_opt free with
    | Some ((last, lane) as first) when last + gap_ns < from ->
        let free = Free.add (until, lane) (Free.remove first free) in
        (free, used, (key, task, lane) :: found)
    | Some _ | None ->
        (Free.add (until, used) free, used + 1, (key, task, used) :: found)
  in
  let _, used, found = List.fold_left add (Free.empty, 0, []) spans in
  (used, List.rev found)

(* The rows of a fold are next to each other, and folds are in the order of their beginnings. *)
let rows_of items waits runs marks =
  let sites = sites items waits in
  let folded = Hashtbl.create 10 and order = ref [] in
  List.iter
    (fun span ->
      let key, title = fold_of sites span in
      match Hashtbl.find_opt folded key with
      | Some spans -> Hashtbl.replace folded key (span :: spans)
      | None ->
          order := (key, title) :: !order;
          Hashtbl.replace folded key [ span ])
    (spans waits runs marks);
  let rows = Hashtbl.create 100 and next = Hashtbl.create 1 in
  let lanes = Hashtbl.create 1 and titles = ref [] in
  let add fold (((pid, _, _) as key), title) =
    let spans = List.rev (Hashtbl.find folded key) in
    let used, found = lanes_of spans in
    let before = Option.value (Hashtbl.find_opt next pid) ~default:1 in
    Hashtbl.replace next pid (before + used);
    let tasks = Array.make used [] in
    List.iter
      (fun (key, task, lane) ->
        Hashtbl.replace rows key (before + lane);
        tasks.(lane) <- task :: tasks.(lane))
      found;
    let lane i = function
      | [ task ] -> { row = before + i; name = label task; fold }
      | _ when used = 1 -> { row = before; name = title; fold }
      | _ ->
          let name = Printf.sprintf "%s, row %d" title (i + 1) in
          { row = before + i; name; fold }
    in
    titles := Printf.sprintf "%s (%d)" title (List.length spans) :: !titles;
    Hashtbl.replace lanes pid
      (Option.value (Hashtbl.find_opt lanes pid) ~default:[]
      @ List.mapi lane (Array.to_list tasks))
  in
  List.iteri add (List.rev !order);
  (rows, lanes, Array.of_list (List.rev !titles))

(* --- All of it ---------------------------------------------------------------- *)

let make ?from_ns ?(zones = []) ?(stands_for = Hashtbl.create 0) items =
  let items =
    List.stable_sort
      (fun (a : Recorder.item) (b : Recorder.item) ->
        Int.compare a.time_ns b.time_ns)
      items
  in
  let end_of Recorder.{ time_ns; event; _ } =
    match event with
    | Paused { for_ns; _ } -> time_ns + for_ns
    | Told _ | Lost _ -> time_ns
  in
  let begun_ns = match items with [] -> 0 | first :: _ -> first.time_ns in
  let finished_ns =
    List.fold_left (fun last item -> Int.max last (end_of item)) begun_ns items
  in
  let waits = waits_of items ~stands_for ~finished_ns
  and runs = runs_of items ~zones ~finished_ns in
  let queue Recorder.{ pid; time_ns; event } =
    match event with
    | Told (Trace.Queue { name; domain; length }) ->
        Some (pid, domain, name, time_ns, length)
    | _ -> None
  and mark Recorder.{ pid; time_ns; event } =
    match event with
    | Told (Trace.Mark { task; domain; text }) ->
        Some ({ pid; task; domain }, time_ns, text)
    | _ -> None
  and pause Recorder.{ pid; time_ns = from_ns; event } =
    match event with
    | Paused { domain; pause; for_ns } ->
        Some ({ pid; domain; from_ns; until_ns = from_ns + for_ns }, pause)
    | _ -> None
  and loss Recorder.{ pid; time_ns = until_ns; event } =
    match event with
    | Lost { domain; since_ns; bytes } ->
        Some
          ({ pid; domain; from_ns = Int.max begun_ns since_ns; until_ns }, bytes)
    | _ -> None
  in
  let marks = List.filter_map mark items in
  let pid (item : Recorder.item) = item.pid in
  let processes = List.sort_uniq Int.compare (List.map pid items) in
  let rows, lanes, folds = rows_of items waits runs marks in
  {
    waits;
    runs;
    queues = List.filter_map queue items;
    pauses = List.filter_map pause items;
    losses = List.filter_map loss items;
    marks;
    zones;
    from_ns = Int.max begun_ns (Option.value from_ns ~default:begun_ns);
    begun_ns;
    finished_ns;
    rows;
    lanes;
    folds;
    processes;
  }

let row t { pid; task; _ } = Hashtbl.find t.rows (pid, task.id)

let domains t pid =
  let found = Hashtbl.create 10 in
  let add of_pid domain =
    if of_pid = pid then Hashtbl.replace found domain ()
  in
  let add_actor (actor : actor) = add actor.pid actor.domain in
  List.iter
    (fun wait ->
      add_actor wait.of_;
      add wait.of_.pid wait.resumed_on;
      Option.iter (fun wake -> add_actor wake.by) wait.wake)
    t.waits;
  List.iter (fun run -> add_actor run.by_) t.runs;
  List.iter (fun (actor, _, _) -> add_actor actor) t.marks;
  List.iter (fun ((span : span), _) -> add span.pid span.domain) t.pauses;
  List.iter (fun ((span : span), _) -> add span.pid span.domain) t.losses;
  List.sort Int.compare (List.of_seq (Hashtbl.to_seq_keys found))

let lanes t pid = Option.value (Hashtbl.find_opt t.lanes pid) ~default:[]
