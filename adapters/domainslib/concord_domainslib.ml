module Task = Domainslib.Task
module Promise = Concord.Promise
module Decision = Concord.Host_kit.Decision

exception Cancelled

(* How jobs get into a pool.

   Domainslib lets only a domain that has a place in the pool submit tasks, but it
   resumes a waiting task from anywhere. So each pool gets one task, the porter,
   that submits from inside. A domain of a pool starts its own tasks latest first; so
   what it submits is not a job, but a turn to start the oldest one.

   [inbox], the only Atomic of a porter

   Left by     To                      By whom
   post        one job more            any thread; it then calls [wake]
   take        without the oldest job  a turn, which then starts the job
   block       another [wake]          the porter, if it has submitted a turn for
                                       each job

   [wake] is left in place when the porter has been woken: it refuses then. So the next
   thread that posts calls it too, should a signal handler have interrupted an earlier
   one. A turn that finds no job does nothing: one turn too many does no harm, should
   the porter be interrupted before it has counted the turn.

   This is not [Concord.Host_kit.Inbox], as several domains take from it. *)
type job = {
  start : unit -> unit;
  fail : exn -> Printexc.raw_backtrace -> unit;
      (** Does nothing if the job has ended. *)
}

type inbox = {
  oldest_first : job list;
  latest_first : job list;  (** Those that came after these. *)
  posted : int;  (** How many jobs have come. *)
  wake : unit Concord.Suspend.resumer;
}

type porter = {
  inbox : inbox Atomic.t;
  mutable turns : int;
      (** How many it has submitted. Only the porter touches it. *)
}

let create () =
  let wake _ = false in
  let inbox = { oldest_first = []; latest_first = []; posted = 0; wake } in
  { inbox = Atomic.make inbox; turns = 0 }

(* [f v] is owed, and does no harm if it is done twice. A signal handler that raises may
   have come too early: so [f v] is done once more. *)
let insist f v =
  match f v with
  | result -> result
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (f v : bool);
      Printexc.raise_with_backtrace e backtrace

let rec post inbox job =
  let before = Atomic.get inbox in
  let latest_first = job :: before.latest_first in
  let after = { before with latest_first; posted = before.posted + 1 } in
  if Atomic.compare_and_set inbox before after then
    ignore (insist before.wake (Ok ()) : bool)
  else post inbox job

(* [taken] is set in the same step: no handler runs between the two. *)
let rec take inbox taken =
  let before = Atomic.get inbox in
  let without job oldest_first latest_first =
    let job = Some job in
    let after = { before with oldest_first; latest_first } in
    if Atomic.compare_and_set inbox before after then taken := job
    else take inbox taken
  in
  match before with
  | { oldest_first = job :: rest; latest_first; _ } ->
      without job rest latest_first
  | { oldest_first = []; latest_first; _ } -> (
      match List.rev latest_first with
      | job :: rest -> without job rest []
      | [] -> ())

let turn inbox () =
  let taken = ref None in
  let take_and_start () =
    take inbox taken;
    Option.iter (fun job -> job.start ()) !taken
  in
  match take_and_start () with
  | () -> ()
  | exception e -> (
      (* a signal handler's *)
      let backtrace = Printexc.get_raw_backtrace () in
      match !taken with
      | Some job -> job.fail e backtrace
      | None -> take_and_start ())

let rec block porter wake =
  let before = Atomic.get porter.inbox in
  if before.posted > porter.turns then Some ()
  else if Atomic.compare_and_set porter.inbox before { before with wake } then
    None
  else (* a job has come, or was taken *) block porter wake

let step pool porter =
  Concord.Suspend.suspend (block porter);
  while (Atomic.get porter.inbox).posted > porter.turns do
    ignore (Task.async pool (turn porter.inbox) : unit Task.promise);
    porter.turns <- porter.turns + 1
  done

let is_alive pool =
  match Task.get_num_domains pool with
  | (_ : int) -> true
  | exception Invalid_argument _ -> false

(* Nobody awaits this task: the exception of a signal handler is dropped, as it would
   be in any other such task. *)
let rec serve pool porter =
  match step pool porter with
  | () -> serve pool porter
  | exception _ when is_alive pool -> serve pool porter

(* --- Which porter belongs to which pool ----------------------------------- *)

(* The porter keeps its pool alive. *)
type entry = {
  pool : Task.pool Weak.t;
  porter_of : (Task.pool, porter) Ephemeron.K1.t;
}

(* A list, as programs have few pools. A thread adds to it only while it holds [mutex].
   *)
let entries : entry list Atomic.t = Atomic.make []
let mutex = Mutex.create ()

let find pool =
  let query entry = Ephemeron.K1.query entry.porter_of pool in
  List.find_map query (Atomic.get entries)

let add pool porter =
  let key = Weak.create 1 in
  Weak.set key 0 (Some pool);
  let entry = { pool = key; porter_of = Ephemeron.K1.make pool porter } in
  let used = List.filter (fun e -> Weak.check e.pool 0) (Atomic.get entries) in
  Atomic.set entries (entry :: used)

let start name pool =
  let porter = create () in
  match Task.async pool (fun () -> serve pool porter) with
  | (_ : unit Task.promise) ->
      add pool porter;
      porter
  | exception Assert_failure _ ->
      invalid_arg
        ("Concord_domainslib." ^ name
       ^ ": the pool has no place for the calling domain; call attach before, \
          from the domain that uses Domainslib.Task.run or async")

let porter name pool =
  if not (is_alive pool) then
    invalid_arg ("Concord_domainslib." ^ name ^ ": the pool was torn down");
  match find pool with
  | Some porter -> porter
  | None ->
      Mutex.protect mutex (fun () ->
          match find pool with Some porter -> porter | None -> start name pool)

let attach pool = ignore (porter "attach" pool : porter)

(* --- Jobs ----------------------------------------------------------------- *)

let job promise f =
  let fail e backtrace =
    ignore (Promise.try_fail ~backtrace promise e : bool)
  in
  let start () =
    match f () with
    | v -> ignore (Promise.try_fill promise v : bool)
    | exception e -> fail e (Printexc.get_raw_backtrace ())
  in
  { start; fail }

let submit pool f =
  let porter = porter "submit" pool in
  let promise = Promise.create () in
  post porter.inbox (job promise f);
  promise

let submit_cancellable pool f =
  let porter = porter "submit_cancellable" pool in
  let promise = Promise.create () in
  let { start; fail } = job promise f in
  (* Starting the job and cancelling it race for this. *)
  let taken = Decision.create () in
  let take () = Decision.decide taken (Ok ()) in
  post porter.inbox { start = (fun () -> if take () then start ()); fail };
  let fail_now = Promise.try_fail promise in
  let cancel () = take () && insist fail_now Cancelled in
  (promise, cancel)

(* --- Promises -------------------------------------------------------------- *)

let of_task pool task = submit pool (fun () -> Task.await pool task)
let to_task pool t = Task.async pool (fun () -> Promise.await t)
