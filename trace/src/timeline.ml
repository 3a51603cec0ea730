open Concord.Tools

type actor = { pid : int; task : Trace.task; domain : int }
type wake = { by : actor; wake_ns : int; handed_over : bool }

type wait = {
  number : int;
  of_ : actor;
  operation : string;
  at : string;
  begun_ns : int;
  ended_ns : int;
  outcome : Trace.outcome option;
  resumed_on : int;
  wake : wake option;
}

type run = { by_ : actor; from_ns : int; until_ns : int }

type t = {
  waits : wait list;
  runs : run list;
  queues : (int * int * string * int * int) list;
  begun_ns : int;
  finished_ns : int;
  rows : (int * int, int) Hashtbl.t;
  processes : int list;
}

(* It waits by itself: what called it goes on. *)
let is_operation (task : Trace.task) = task.name = "an operation"

let is_known (task : Trace.task) =
  task.name <> "a task" && not (is_operation task)

let label (task : Trace.task) =
  if task.host = "" then task.name else task.host ^ ", " ^ task.name

(* --- Waits ------------------------------------------------------------------- *)

let waits_of items ~finished_ns =
  let open_ = Hashtbl.create 100 and wakes = Hashtbl.create 100 in
  let closed = ref [] in
  let add Recorder.{ pid; time_ns; event } =
    match event with
    | Trace.Suspended { wait = number; task; domain; operation; at; _ } ->
        let of_ = { pid; task; domain } in
        Hashtbl.replace open_ (pid, number)
          {
            number;
            of_;
            operation;
            at;
            begun_ns = time_ns;
            ended_ns = finished_ns;
            outcome = None;
            resumed_on = domain;
            wake = None;
          }
    | Woken { wait; by; domain; suspended_on; _ } ->
        let by = { pid; task = by; domain } in
        Hashtbl.replace wakes (pid, wait)
          { by; wake_ns = time_ns; handed_over = domain <> suspended_on }
    | Resumed { wait = number; domain; outcome; _ } -> (
        match Hashtbl.find_opt open_ (pid, number) with
        | None -> (* lost *) ()
        | Some wait ->
            Hashtbl.remove open_ (pid, number);
            closed :=
              {
                wait with
                ended_ns = time_ns;
                outcome = Some outcome;
                resumed_on = domain;
              }
              :: !closed)
    | Began _ | Forked _ | Ended _ | Queue _ | Mark _ -> ()
  in
  List.iter add items;
  let with_wake wait =
    { wait with wake = Hashtbl.find_opt wakes (wait.of_.pid, wait.number) }
  in
  List.rev_map with_wake !closed
  @ List.map snd (List.of_seq (Hashtbl.to_seq open_))
  |> List.sort (fun (a : wait) (b : wait) -> Int.compare a.begun_ns b.begun_ns)

(* --- Runs -------------------------------------------------------------------- *)

let runs_of items ~finished_ns =
  let running = Hashtbl.create 10 and runs = ref [] in
  let stop pid domain until_ns =
    match Hashtbl.find_opt running (pid, domain) with
    | None -> ()
    | Some (by_, from_ns) ->
        Hashtbl.remove running (pid, domain);
        runs := { by_; from_ns; until_ns } :: !runs
  in
  let go_on pid task domain time_ns =
    stop pid domain time_ns;
    Hashtbl.replace running (pid, domain) ({ pid; task; domain }, time_ns)
  in
  let add Recorder.{ pid; time_ns; event } =
    match event with
    | (Trace.Suspended { task; _ } | Resumed { task; _ }) when is_operation task
      ->
        ()
    | Suspended { domain; _ } | Ended { domain; _ } -> stop pid domain time_ns
    | Resumed { task; domain; _ } | Forked { task; domain; _ } ->
        go_on pid task domain time_ns
    | Began _ | Woken _ | Queue _ | Mark _ -> ()
  in
  List.iter add items;
  let rest = List.of_seq (Hashtbl.to_seq_keys running) in
  List.iter (fun (pid, domain) -> stop pid domain finished_ns) rest;
  List.rev !runs

(* --- Rows -------------------------------------------------------------------- *)

(* When each task is drawn, from its first event to its last. *)
let spans waits runs =
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
    (fun { wake; _ } ->
      match wake with
      | Some { by; wake_ns; _ } when is_known by.task -> add by wake_ns wake_ns
      | Some _ | None -> ())
    waits;
  List.of_seq (Hashtbl.to_seq spans)
  |> List.sort (fun (_, (_, a, _)) (_, (_, b, _)) -> Int.compare a b)

(* Tasks that are not told apart get the first row of their host that is free. *)
let rows_of waits runs =
  let rows = Hashtbl.create 100 and next = Hashtbl.create 1 in
  let shared = Hashtbl.create 10 in
  let new_row pid =
    let row = 1 + Option.value (Hashtbl.find_opt next pid) ~default:0 in
    Hashtbl.replace next pid row;
    row
  in
  let actor ((pid, id), (task, from, until)) =
    let row =
      if is_known task then new_row pid
      else
        let key = (pid, label task) in
        let known = Option.value (Hashtbl.find_opt shared key) ~default:[] in
        let row, others =
          match List.partition (fun (_, last) -> last <= from) known with
          | (row, _) :: free, busy -> (row, free @ busy)
          | [], busy -> (new_row pid, busy)
        in
        Hashtbl.replace shared key ((row, until) :: others);
        row
    in
    Hashtbl.replace rows (pid, id) row
  in
  List.iter actor (spans waits runs);
  rows

(* --- All of it ---------------------------------------------------------------- *)

let make items =
  let items =
    List.stable_sort
      (fun (a : Recorder.item) (b : Recorder.item) ->
        Int.compare a.time_ns b.time_ns)
      items
  in
  let times = List.map (fun (item : Recorder.item) -> item.time_ns) items in
  let begun_ns = match times with [] -> 0 | first :: _ -> first in
  let finished_ns = List.fold_left Int.max begun_ns times in
  let waits = waits_of items ~finished_ns
  and runs = runs_of items ~finished_ns in
  let queue Recorder.{ pid; time_ns; event } =
    match event with
    | Trace.Queue { name; domain; length } ->
        Some (pid, domain, name, time_ns, length)
    | _ -> None
  in
  let queues = List.filter_map queue items in
  let pid (item : Recorder.item) = item.pid in
  let processes = List.sort_uniq Int.compare (List.map pid items) in
  {
    waits;
    runs;
    queues;
    begun_ns;
    finished_ns;
    rows = rows_of waits runs;
    processes;
  }

let row t { pid; task; _ } = Hashtbl.find t.rows (pid, task.id)

let actors t =
  List.map (fun wait -> wait.of_) t.waits
  @ List.map (fun run -> run.by_) t.runs
  @ List.filter_map
      (fun { wake; _ } -> Option.map (fun wake -> wake.by) wake)
      t.waits

let of_process t pid = List.filter (fun actor -> actor.pid = pid) (actors t)

let domains t pid =
  List.sort_uniq Int.compare
    (List.map (fun actor -> actor.domain) (of_process t pid)
    @ List.filter_map
        (fun wait -> if wait.of_.pid = pid then Some wait.resumed_on else None)
        t.waits)

let tasks t pid =
  let named actor =
    match Hashtbl.find_opt t.rows (pid, actor.task.id) with
    | Some row -> Some (row, label actor.task)
    | None -> None
  in
  List.sort_uniq compare (List.filter_map named (of_process t pid))
