module Task = Domainslib.Task
module Promise = Concord.Promise
module Decision = Concord.Tools.Host_kit.Decision

exception Torn_down

(* How jobs get into a pool.

   Domainslib lets only a domain that has a slot in the pool submit tasks, but it
   resumes a waiting task from anywhere. So each pool gets one task, the porter,
   that submits from inside. A domain of a pool starts its own tasks latest first.
   So the porter doesn't submit jobs, but turns, each of which starts the oldest job.

   [inbox], an Atomic

   Left by     To                      By whom
   post        one job more            any thread, which then calls [wake]
   take        without the oldest job  a turn, which then starts the job
   lose        without jobs, closed    any thread, when the pool has been torn down. It then
                                       fails these jobs, and no job is added after that
   block       another [wake]          the porter, if it has submitted a turn for
                                       each job

   [wake] stays after the porter was woken, and then refuses. A turn that finds no job does
   nothing. So if the porter is interrupted before it has counted a turn, one turn too many
   does no harm.

   This is not [Concord.Tools.Host_kit.Inbox], because several domains take from it.

   [ended], an Atomic, counts the jobs that have ended. [drained] is another one:

   State   Left by  To      By whom
   None    drain    Some p  any task. It then checks again whether all jobs have ended, and
                            waits for [p]
   Some p  finish   None    the turn that counted a job, or the task that checked again, if
                            it found that all jobs had ended. It then fills [p]

   [is_drained] reads [ended] first and [posted] afterwards. Both only grow. So if [posted]
   is not larger, all jobs had ended at the moment when [ended] was read. Jobs that don't
   count are left out of both. *)
type work = {
  start : unit -> unit;
  fail : exn -> Printexc.raw_backtrace -> unit;
      (** Does nothing if the job has ended. *)
}

(* [work] is [None] when the job has ended. The turn that runs the job writes it. Other code
   reads it only if the pool was torn down, or to forget the job. If that reads an old value,
   the job is forgotten later. *)
type job = { mutable work : work option; counts : bool }

type inbox = {
  oldest_first : job list;
  latest_first : job list;  (** The jobs that came after [oldest_first]. *)
  posted : int;  (** How many jobs were posted. *)
  aside : int;  (** How many of these do not count. *)
  wake : unit Concord.Tools.Suspend.resumer;
  closed : bool;
}

(* The jobs that one domain has started. Only turns on this domain write it, in functions that
   don't suspend, so two turns never write at the same time. A turn adds its job here before it
   takes the job from the inbox, and [lose] reads [jobs] after it has closed the inbox. So
   [lose] sees each job that was taken. It may also see one that wasn't, which does no harm. *)
type started = {
  mutable jobs : job list;
      (** All jobs in progress, and some that have ended. *)
  mutable room : int;
      (** After so many more jobs, those that have ended are removed. *)
}

type t = {
  inbox : inbox Atomic.t;
  ended : int Atomic.t;
  drained : unit Promise.t option Atomic.t;
  here : unit -> started;  (** The jobs of the calling domain. *)
  domains : started list Atomic.t;  (** The jobs of all domains. *)
  mutable turns : int;
      (** How many turns were submitted. Only the porter uses it. *)
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

(* Unbroken, because other tasks would wait in vain. [f v] may take effect several
   times. *)
let rec insist f v =
  match f v with
  | result -> result
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (Sys.opaque_identity (insist f v) : bool);
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

let finish porter job =
  if Option.is_some job.work then begin
    if job.counts then ignore (Atomic.fetch_and_add porter.ended 1 : int);
    job.work <- None
  end;
  if Option.is_some (Atomic.get porter.drained) then
    ignore (insist wake_if_drained porter : bool)

let rec drain porter =
  if not (is_drained porter) then begin
    (match Atomic.get porter.drained with
    | Some p ->
        ignore (wake_if_drained porter : bool);
        Promise.await p
    | None ->
        let waiting = Some (Promise.create ()) in
        ignore (Atomic.compare_and_set porter.drained None waiting : bool));
    drain porter
  end

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

(* Unbroken from the compare-and-set to the write to [taken]. *)
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
      (* unbroken, because the job has to end; jobs don't raise *)
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
  else
    (* Meanwhile a job was posted or taken. *)
    block porter wake

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

(* No code awaits this task. So exceptions are dropped, as in any other task of Domainslib that
   is not awaited. *)
let rec serve pool porter =
  match step pool porter with
  | () -> serve pool porter
  | exception _ when is_alive pool -> serve pool porter

(* --- Jobs that will never run ----------------------------------------------- *)

let rec take_all inbox =
  let before = Atomic.get inbox in
  let after =
    { before with oldest_first = []; latest_first = []; closed = true }
  in
  if Atomic.compare_and_set inbox before after then
    before.oldest_first @ List.rev before.latest_first
  else take_all inbox

(* If two threads call this at once, a job may be counted twice. That does no harm, because all
   jobs are lost then. *)
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

exception Withdrawn

let cancellable promise f =
  let { start; fail } = work promise f in
  (* The start and the cancellation of the job race for this decision. *)
  let taken = Decision.create () in
  let take () = Decision.decide taken (Ok ()) in
  let start () = if take () then start () in
  let fail_now = Promise.try_fail promise in
  let cancel () = take () && insist fail_now Withdrawn in
  (job { start; fail }, cancel)
