module Task = Domainslib.Task
module Promise = Concord.Promise
module Decision = Concord.Tools.Host_kit.Decision

exception Torn_down

(* How jobs get into a pool.

   Domainslib lets only a domain that has a place in the pool submit tasks, but it
   resumes a waiting task from anywhere. So each pool gets one task, the porter,
   that submits from inside. A domain of a pool starts its own tasks latest first; so
   what it submits is not a job, but a turn to start the oldest one.

   [inbox], an Atomic

   Left by     To                      By whom
   post        one job more            any thread; it then calls [wake]
   take        without the oldest job  a turn, which then starts the job
   lose        without jobs, closed    any thread, when the pool has been torn down or is
                                       given up; it then fails these jobs. No job comes
                                       any more
   block       another [wake]          the porter, if it has submitted a turn for
                                       each job

   [wake] is left in place when the porter has been woken: it refuses then. So the next
   thread that posts calls it too, should a signal handler have interrupted an earlier
   one. A turn that finds no job does nothing: one turn too many does no harm, should
   the porter be interrupted before it has counted the turn.

   This is not [Concord.Tools.Host_kit.Inbox], as several domains take from it.

   [ended], an Atomic, counts the jobs that have ended, and [drained], another

   State   Left by  To      By whom
   None    drain    Some p  any task; it looks again whether all jobs have ended, and
                            then waits for [p]
   Some p  finish   None    whoever counted a job, or looked again, and found that as
                            many had ended as had come; it then fills [p]

   As many had ended as had come, at the moment when [ended] was read, if [posted], which
   is read afterwards, is not more; both without the jobs that do not count. *)
type work = {
  start : unit -> unit;
  fail : exn -> Printexc.raw_backtrace -> unit;
      (** Does nothing if the job has ended. *)
}

(* [work] is [None] when the job has ended. The turn that runs the job writes it; others
   look at it only if the pool was torn down, or to forget the job, which they may do
   later. *)
type job = { mutable work : work option; counts : bool }

type inbox = {
  oldest_first : job list;
  latest_first : job list;  (** Those that came after these. *)
  posted : int;  (** How many jobs have come. *)
  aside : int;  (** How many of these do not count. *)
  wake : unit Concord.Tools.Suspend.resumer;
  closed : bool;
}

(* The jobs that one domain has started. Only its turns write it, and none of the functions
   that do so suspends. [lose] reads [jobs] after it has closed the inbox, and a turn writes
   them before it takes the job from there: so [lose] sees each job that was taken. It may
   see more, which does no harm. *)
type started = {
  mutable jobs : job list;  (** Those in progress are all here. *)
  mutable room : int;  (** So many more, and it forgets those that have ended. *)
}

type t = {
  inbox : inbox Atomic.t;
  ended : int Atomic.t;
  drained : unit Promise.t option Atomic.t;
  here : unit -> started;  (** Of the calling domain. *)
  domains : started list Atomic.t;  (** Of all domains. *)
  mutable turns : int;
      (** How many it has submitted. Only the porter touches it. *)
}

let nothing_started () = { jobs = []; room = 16 }

let create ~here ~domains =
  let wake _ = false in
  let inbox =
    {
      oldest_first = [];
      latest_first = [];
      posted = 0;
      aside = 0;
      wake;
      closed = false;
    }
  in
  {
    inbox = Atomic.make inbox;
    ended = Atomic.make 0;
    drained = Atomic.make None;
    here;
    domains;
    turns = 0;
  }

(* [f v] is owed, and does no harm if it is done twice. A signal handler that raises may
   have come too early: so [f v] is done once more. *)
let insist f v =
  match f v with
  | result -> result
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (f v : bool);
      Printexc.raise_with_backtrace e backtrace

(* --- The end of jobs ------------------------------------------------------ *)

let is_drained porter =
  let ended = Atomic.get porter.ended in
  let { posted; aside; _ } = Atomic.get porter.inbox in
  ended >= posted - aside

let wake_if_drained porter =
  match Atomic.get porter.drained with
  | Some p as waiting when is_drained porter ->
      ignore (Atomic.compare_and_set porter.drained waiting None : bool);
      Promise.try_fill p ()
  | Some _ | None -> false

(* The job is counted and marked in the same step: no handler runs between the two. *)
let finish porter job =
  if Option.is_some job.work then begin
    if job.counts then ignore (Atomic.fetch_and_add porter.ended 1 : int);
    job.work <- None
  end;
  if Option.is_some (Atomic.get porter.drained) then
    ignore (insist wake_if_drained porter : bool)

let rec drain_by await porter =
  is_drained porter
  ||
  match Atomic.get porter.drained with
  | Some p ->
      (* Also on behalf of one that was interrupted before it looked again. *)
      ignore (wake_if_drained porter : bool);
      await p && drain_by await porter
  | None ->
      let waiting = Some (Promise.create ()) in
      ignore (Atomic.compare_and_set porter.drained None waiting : bool);
      drain_by await porter

let drain porter =
  let await p =
    Promise.await p;
    true
  in
  ignore (drain_by await porter : bool)

(* --- From the inbox to the pool ------------------------------------------- *)

let torn_down job =
  let fail work = work.fail Torn_down (Printexc.get_callstack 0) in
  Option.iter fail job.work

let rec post porter job =
  let before = Atomic.get porter.inbox in
  if before.closed then torn_down job
  else
    let latest_first = job :: before.latest_first in
    let posted = before.posted + 1
    and aside = if job.counts then before.aside else before.aside + 1 in
    let after = { before with latest_first; posted; aside } in
    if Atomic.compare_and_set porter.inbox before after then
      ignore (insist before.wake (Ok ()) : bool)
    else post porter job

let in_progress job = Option.is_some job.work

let keep started job =
  if started.room = 0 then begin
    started.jobs <- List.filter in_progress started.jobs;
    started.room <- Int.max 16 (List.length started.jobs)
  end;
  started.jobs <- job :: started.jobs;
  started.room <- started.room - 1

(* [taken] is set in the same step: no handler runs between the two. *)
let rec take porter taken =
  let started = porter.here () in
  let before = Atomic.get porter.inbox in
  let without job oldest_first latest_first =
    let { jobs; room } = started in
    keep started job;
    let after = { before with oldest_first; latest_first } in
    let job = Some job in
    if Atomic.compare_and_set porter.inbox before after then taken := job
    else begin
      started.jobs <- jobs;
      started.room <- room;
      take porter taken
    end
  in
  match before with
  | { oldest_first = job :: rest; latest_first; _ } ->
      without job rest latest_first
  | { oldest_first = []; latest_first; _ } -> (
      match List.rev latest_first with
      | job :: rest -> without job rest []
      | [] -> ())

let start = function
  | Some { work = Some work; _ } -> work.start ()
  | Some { work = None; _ } | None -> ()

let take_and_start porter taken =
  take porter taken;
  start !taken

let turn porter () =
  let taken = ref None in
  (match take_and_start porter taken with
  | () -> ()
  | exception e -> (
      (* a signal handler's *)
      let backtrace = Printexc.get_raw_backtrace () in
      match !taken with
      | Some { work = Some work; _ } -> work.fail e backtrace
      | Some { work = None; _ } -> ()
      | None -> take_and_start porter taken));
  match !taken with Some job -> finish porter job | None -> ()

let rec block porter wake =
  let before = Atomic.get porter.inbox in
  if before.posted > porter.turns then Some ()
  else if Atomic.compare_and_set porter.inbox before { before with wake } then
    None
  else (* a job has come, or was taken *) block porter wake

let step pool porter =
  ignore (porter.here () : started);
  Concord.Private.Reach.suspend_loop (block porter);
  while (Atomic.get porter.inbox).posted > porter.turns do
    ignore (Task.async pool (turn porter) : unit Task.promise);
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

(* --- Jobs that nobody will run -------------------------------------------- *)

let rec take_all inbox =
  let before = Atomic.get inbox in
  let after =
    { before with oldest_first = []; latest_first = []; closed = true }
  in
  if Atomic.compare_and_set inbox before after then
    before.oldest_first @ List.rev before.latest_first
  else take_all inbox

(* Two threads that do so at once may count a job twice: then all are lost anyway. *)
let lose porter =
  let lose job =
    torn_down job;
    finish porter job
  in
  let posted = take_all porter.inbox in
  let started = List.map (fun s -> s.jobs) (Atomic.get porter.domains) in
  List.iter lose (List.concat started);
  List.iter lose posted

(* --- Jobs ----------------------------------------------------------------- *)

let work promise f =
  let fail e backtrace =
    ignore (Promise.try_fail ~backtrace promise e : bool)
  in
  let start () =
    match f () with
    | v -> ignore (Promise.try_fill promise v : bool)
    | exception e -> fail e (Printexc.get_raw_backtrace ())
  in
  { start; fail }

let job work = { work = Some work; counts = true }
let job_aside work = { work = Some work; counts = false }

let cancellable ~cancelled promise f =
  let { start; fail } = work promise f in
  (* Starting the job and cancelling it race for this. *)
  let taken = Decision.create () in
  let take () = Decision.decide taken (Ok ()) in
  let start () = if take () then start () in
  let fail_now = Promise.try_fail promise in
  let cancel () = take () && insist fail_now cancelled in
  (job { start; fail }, cancel)
