module Inbox = Concord.Tools.Host_kit.Inbox
module Spin = Concord.Tools.Host_kit.Spin
module Turn = Concord.Tools.Host_kit.Turn
module Scheduler = Async_kernel.Async_kernel_scheduler
module Execution_context = Async_kernel.Execution_context
module Ivar = Async.Ivar

(* --- The thread that runs Async --------------------------------------------- *)

(* Async's lock is first held by the initial thread of this domain. The domain is compared first,
   because another domain must not even ask for the scheduler, which would create it there. The
   lock's owner is read without the lock. This is safe, because only the calling thread can make
   itself the owner. *)
let domain = Domain.self ()

let is_here () =
  Domain.self () = domain && Async.Thread_safe.am_holding_async_lock ()

(* The initial thread also holds the lock while Async doesn't run. This is before the scheduler
   is started, and between calls of [Thread_safe.block_on_async]. *)
let this_thread () = Thread.id (Thread.self ())
let initial_thread = this_thread ()

(* The thread that ended the last cycle, until the next one begins. If this thread runs Async's
   cycles, it sleeps now, without the lock. So only a callback from C can call from it. That
   thread writes this, and a thread only compares it with itself. *)
let nobody = -1
let between_cycles = Atomic.make nobody

(* The thread that has called [exit]. [exit] calls the functions of [Domain.at_exit] first, so
   this is known before those of [at_exit] run. *)
let exiting = Atomic.make nobody
let () = Domain.at_exit (fun () -> Atomic.set exiting (this_thread ()))
let has_exited () = Atomic.get exiting = this_thread ()

let is_in_async () =
  Domain.self () = domain
  && Async.Scheduler.is_running ()
  &&
  if Async.Thread_safe.am_holding_async_lock () then
    this_thread () <> initial_thread
    || Scheduler.Private.in_cycle (Scheduler.Private.t ())
  else Atomic.get between_cycles = this_thread ()

(* --- Waking --------------------------------------------------------------- *)

type job = { run : finally:(unit -> unit) -> unit; mutable has_begun : bool }
type wake = Wake : 'a Ivar.t * 'a -> wake | Job of job

(* The queue is asleep between two cycles of Async, and then a byte in the pipe starts a cycle. A
   cycle serves messages at its start, and those that came later at its end. At the end isn't too
   late, because handlers of an ivar are jobs, and Async decides after that whether to sleep. *)
let wakes : wake Inbox.t = Inbox.create ()

(* The end of the pipe to write to, from the first [enter] on. Async's thread sets it before it
   passes on any resumer, so the threads that call a resumer see it. *)
let pipe = ref None
let byte = Bytes.make 1 '.'
let buffer = Bytes.create 64

(* Unbroken, because a resumer calls it. A full pipe wakes Async as well, and a second byte does
   no harm. *)
let rec ring output =
  match Unix.single_write output byte 0 1 with
  | (_ : int) -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()
  | exception Unix.Unix_error (EINTR, _, _) -> ring output
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ring output;
      Printexc.raise_with_backtrace e backtrace

(* The cycle that calls this also serves the messages for which the bytes were written, at its
   start or at its end. If bytes are left in the pipe, Async calls this again. *)
let empty input =
  match Unix.read input buffer 0 (Bytes.length buffer) with
  | (_ : int) -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EINTR), _, _) -> ()

(* While there is no pipe, no cycle has served the inbox yet, so the first one will find this
   job. *)
let post run =
  let job = { run; has_begun = false } in
  match Inbox.post wakes (Job job) with
  | Refused | Posted -> ()
  | Posted_to_sleeper -> Option.iter ring !pipe

let resumer decision ivar =
  let wake () = Option.iter ring !pipe
  and message outcome = Wake (ivar, outcome) in
  Inbox.resumer wakes ~wake decision message

(* --- Serving -------------------------------------------------------------- *)

let enqueue context job = Scheduler.enqueue_job context job ()

(* The posted jobs that have begun, and have not ended. *)
let running = ref 0

let begin_once job () =
  if not job.has_begun then begin
    job.has_begun <- true;
    incr running;
    job.run ~finally:(fun () -> decr running)
  end

(* Unbroken: if this raises, the same message is served again. A promise is filled only once,
   and a job is begun only once. *)
let wake = function
  | Wake (ivar, v) -> if Ivar.is_empty ivar then Ivar.fill_exn ivar v
  | Job job -> enqueue Execution_context.main (begin_once job)

(* A cycle that has been long serves no more messages, because Async checks its timers and
   descriptors only between two cycles. *)
let cycle = Turn.create ()

(* How many messages may be served at once. This is bounded, because Async also has other
   jobs. *)
let max_wakes = 10_000

type served = Nothing | Something | Long  (** The cycle has been long. *)

let rec serve_more left =
  if left > 0 && Inbox.serve wakes wake then
    if Turn.add_task cycle then Long else serve_more (left - 1)
  else Something

let serve () = if Inbox.is_empty wakes then Nothing else serve_more max_wakes

(* --- Looking before Async sleeps -------------------------------------------- *)

(* A cycle takes several times as long as a message between two tasks of one domain. So each
   cycle has one job of low priority, [look]. Async runs it when no job of normal priority is
   left. It serves the messages that were posted meanwhile. These include messages of jobs of
   this cycle, so the tasks that they resume continue in the same cycle. *)

let low = Execution_context.create_like ~priority:Low Execution_context.main

(* [true] while [look] is among the jobs. *)
let is_queued = ref false

(* If no job at all is left, [look] spins, because most of the time of a message between two
   domains goes into waking a scheduler that sleeps. *)

let spin = Spin.create ()
let is_posted () = not (Inbox.is_empty wakes)
let may_sleep () = not Scheduler.Private.(can_run_a_job (t ()))

(* [true] if a message has come from elsewhere, and [look] has not spun in vain since. Whoever
   has sent it may soon send the next, for example the answer to a task's next question, or
   another job.

   While a posted job runs, [look] doesn't spin. The job waits for the kernel, or for a thread
   of this domain, from which [look] would take the domain's lock again and again. *)
let expects_message = ref false

let gains_by_spinning () =
  !expects_message && !running = 0
  &&
  let gained = Spin.until spin is_posted in
  if not gained then expects_message := false;
  gained

(* How often [look] spins in one cycle. This is bounded for the same reason as [cycle]. *)
let max_spins = 64
let looks = ref 0

let rec look_later () =
  if not !is_queued then begin
    enqueue low look;
    is_queued := true
  end

and look () =
  is_queued := false;
  match serve () with
  | Something -> look_behind ()
  | Long -> look_in_next_cycle ()
  | Nothing ->
      if may_sleep () then
        if !looks = max_spins then look_in_next_cycle ()
        else begin
          incr looks;
          if gains_by_spinning () then look ()
        end

(* Queues [look] behind the jobs of the tasks that were woken. It needs a normal job to do so,
   because Async runs all low jobs before it returns to normal ones. *)
and look_behind () = enqueue Execution_context.main look_later

(* The start of a cycle serves messages, and this makes the next one begin at once. *)
and look_in_next_cycle () = ignore (Scheduler.yield () : unit Async.Deferred.t)

(* --- Async's cycles ------------------------------------------------------- *)

(* Async's own jobs post nothing between two cycles. *)
let start_cycle () =
  Atomic.set between_cycles nobody;
  Inbox.wake_up wakes;
  if is_posted () then expects_message := true;
  looks := 0;
  Turn.begin_ cycle;
  ignore (serve () : served);
  look_later ()

(* If Async has jobs, it won't sleep, so the inbox need not fall asleep. *)
let end_cycle () =
  ignore (serve () : served);
  if may_sleep () && not (Inbox.fall_asleep wakes) then Option.iter ring !pipe;
  Atomic.set between_cycles (this_thread ())

(* [Async.Fd] makes a descriptor non-blocking only if it reads from it itself, so that is done
   here. A read must not block, because an earlier job may have emptied the pipe already. *)
let set_up () =
  let input, output = Unix.pipe ~cloexec:true () in
  Unix.set_nonblock input;
  Unix.set_nonblock output;
  let name = Core.Info.of_string "the inbox of Concord_async" in
  let fd = Async.Fd.create Fifo input name in
  ignore
    (Async.Scheduler.within_context Execution_context.main (fun () ->
         Async.Fd.every_ready_to fd `Read empty input)
      : (_ Async.Deferred.t, unit) result);
  pipe := Some output;
  Scheduler.Expert.run_every_cycle_start start_cycle;
  Scheduler.Expert.run_every_cycle_end end_cycle;
  (* This may be before the first cycle, so a message has to start that cycle. *)
  ignore (Inbox.fall_asleep wakes : bool)

let enter () =
  if not (is_here ()) then
    invalid_arg
      "Concord_async: the calling thread does not run Async, so only \
       direct-style operations can wait in it";
  if Option.is_none !pipe then set_up ()
