module Inbox = Concord.Tools.Host_kit.Inbox
module Spin = Concord.Tools.Host_kit.Spin
module Scheduler = Async_kernel.Async_kernel_scheduler
module Execution_context = Async_kernel.Execution_context
module Ivar = Async.Ivar

(* --- Whose it is ---------------------------------------------------------- *)

(* Async's lock is first held by the initial thread of this domain. The domain is
   compared first: another domain must not even ask for the scheduler, which is made
   when it is first asked for. The lock's owner is read without holding the lock: that
   is right, as only the calling thread makes itself the owner. *)
let domain = Domain.self ()

let is_here () =
  Domain.self () = domain && Async.Thread_safe.am_holding_async_lock ()

(* The initial thread also holds the lock where nothing of Async is on: before the
   scheduler is started, and between calls of [Thread_safe.block_on_async]. *)
let this_thread () = Thread.id (Thread.self ())
let initial_thread = this_thread ()

(* The thread that ended the last cycle, until the next one. If it runs the cycles of Async
   then it has no lock now, and sleeps: only a signal handler or a finaliser can call
   from there. Written by that thread; a thread looks for itself. *)
let nobody = -1
let between_cycles = Atomic.make nobody

(* The thread that has called [exit]. It calls the functions of [Domain.at_exit] before
   those of [at_exit]. *)
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

type wake = Wake : 'a Ivar.t * 'a -> wake | Job of (unit -> unit)

(* The queue is asleep between two cycles of Async, and then a byte in the pipe starts
   one. A cycle serves what was posted at its start and, if that came later, at its
   end: handlers of an ivar are jobs, and Async decides whether to sleep after it. *)
let wakes : wake Inbox.t = Inbox.create ()

(* From the first [enter] on: written by Async's thread, before it hands out anything
   that may be resumed. *)
let pipe = ref None
let byte = Bytes.make 1 '.'
let buffer = Bytes.create 64

(* A full pipe wakes as well. A signal handler may raise before anything was written:
   then it is written again, as two bytes wake as one does. *)
let rec ring output =
  match Unix.single_write output byte 0 1 with
  | (_ : int) -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()
  | exception Unix.Unix_error (EINTR, _, _) -> ring output
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ring output;
      Printexc.raise_with_backtrace e backtrace

(* What the bytes were written for is served by the cycle that calls this: at its start
   or, if they came later, at its end. What is not read calls this again. *)
let empty input =
  match Unix.read input buffer 0 (Bytes.length buffer) with
  | (_ : int) -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EINTR), _, _) -> ()

(* Before the pipe is there, no cycle has looked at the inbox: the first one will. *)
let post job =
  match Inbox.post wakes (Job job) with
  | Refused | Posted -> ()
  | Posted_to_sleeper -> Option.iter ring !pipe

let resumer decision ivar =
  let wake () = Option.iter ring !pipe
  and message outcome = Wake (ivar, outcome) in
  Inbox.resumer wakes ~wake decision message

(* --- Serving -------------------------------------------------------------- *)

(* How many waits have begun: each is ended by a message. *)
let waits = ref 0
let tasks_wait () = !waits > Inbox.served wakes
let enqueue context job = Scheduler.enqueue_job context job ()

(* Most of the time of a message between two domains goes into waking a scheduler that
   sleeps; and a cycle takes several times as long as a message between two tasks of one
   domain. So while tasks wait there is one job, [look], of low priority: Async runs it
   when no job of normal priority is left. It serves what was posted meanwhile, by the
   jobs of this cycle too, whose tasks then go on in it; and if no job at all is left,
   it looks before Async sleeps. *)

let low = Execution_context.create_like ~priority:Low Execution_context.main
let spin = Spin.create ()
let is_posted () = not (Inbox.is_empty wakes)
let may_sleep () = not Scheduler.Private.(can_run_a_job (t ()))

(* Is [look] among the jobs? *)
let is_queued = ref false

(* How often [look] looks in one cycle: Async sees its timers and descriptors between two
   cycles only. *)
let max_spins = 64
let looks = ref 0

(* How many messages one cycle serves: Async has other things to do as well. *)
let max_wakes = 10_000

let rec look_later () =
  if not !is_queued then begin
    enqueue low look;
    (* a signal handler may raise before: then there are two *)
    is_queued := true
  end

and look () =
  is_queued := false;
  if serve max_wakes < max_wakes then
    begin if tasks_wait () then look_behind ()
    end
  else if may_sleep () then
    if !looks = max_spins then
      (* The next cycle begins at once. *)
      ignore (Scheduler.yield () : unit Async.Deferred.t)
    else begin
      incr looks;
      if Spin.until spin is_posted then look ()
    end

(* Behind the jobs of those that were woken: low jobs are run until there is none, and
   normal ones only then. *)
and look_behind () = enqueue Execution_context.main look_later

(* The second time it does nothing. Who has posted a job may do so again. *)
and wake = function
  | Wake (ivar, v) -> if Ivar.is_empty ivar then Ivar.fill_exn ivar v
  | Job job ->
      incr waits (* as it ends none *);
      look_behind ();
      enqueue Execution_context.main job

(* Serves at most [left] messages. Returns how many more it might have served. *)
and serve left =
  if left > 0 && Inbox.serve wakes wake then serve (left - 1) else left

let begin_wait () =
  incr waits;
  look_later ()

(* --- Async's cycles ------------------------------------------------------- *)

let start_cycle () =
  Atomic.set between_cycles nobody;
  Inbox.wake_up wakes;
  looks := 0;
  ignore (serve max_wakes : int);
  if tasks_wait () then look_later ()

(* Nobody needs to wake Async if it has jobs. *)
let end_cycle () =
  ignore (serve max_wakes : int);
  if may_sleep () && not (Inbox.fall_asleep wakes) then Option.iter ring !pipe;
  Atomic.set between_cycles (this_thread ())

(* [Async.Fd] would make [input] non-blocking only when it reads itself. Its jobs may
   find that an earlier one has emptied the pipe. *)
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
  (* perhaps before the first cycle *)
  ignore (Inbox.fall_asleep wakes : bool)

let enter () =
  if not (is_here ()) then
    invalid_arg
      "Concord_async: the calling thread does not run Async; only direct-style \
       operations can wait there";
  if Option.is_none !pipe then set_up ()
