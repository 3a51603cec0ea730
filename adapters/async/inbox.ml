module Scheduler = Async_kernel.Async_kernel_scheduler
module Execution_context = Async_kernel.Execution_context

(* --- Whose it is ---------------------------------------------------------- *)

(* Async's lock is first held by the initial thread of this domain. The domain is
   compared first: another one must not even ask for the scheduler, which is made
   when somebody asks for it. That the lock's owner is read without holding the lock
   is right, as it is the calling thread only if that has put itself there. *)
let domain = Domain.self ()

let is_here () =
  Domain.self () = domain && Async.Thread_safe.am_holding_async_lock ()

(* --- The inbox ------------------------------------------------------------ *)

(* [inbox]

   State    Left by         To            By whom
   Asleep   post            Jobs [j]      any thread; it then writes a byte
            start of cycle  Jobs []       Async
   Jobs js  post            Jobs (j::js)  any thread
            take            Jobs []       Async, which calls [js]
   Jobs []  end of cycle    Asleep        Async

   Jobs are kept latest first. [Jobs] means that a cycle of Async is on, which takes
   before it ends, or that there is a byte in the pipe, for which a cycle will start.
   A job that makes others ready does so before Async decides whether to sleep. *)
type inbox = Asleep | Jobs of (unit -> unit) list

let inbox = Atomic.make Asleep

let take () =
  match Atomic.exchange inbox (Jobs []) with
  | Asleep | Jobs [] -> ()
  | Jobs latest_first -> List.iter (fun job -> job ()) (List.rev latest_first)

(* --- The pipe ------------------------------------------------------------- *)

(* From the first [enter] on: written by Async's thread, before it hands out anything
   that may post. *)
let pipe = ref None
let byte = Bytes.make 1 '.'
let buffer = Bytes.create 64

(* A full pipe wakes as well. *)
let rec ring output =
  match Unix.single_write output byte 0 1 with
  | (_ : int) -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()
  | exception Unix.Unix_error (EINTR, _, _) -> ring output

(* What the bytes were written for is taken by the cycle that calls this: at its start
   or, if they came later, at its end. What is not read calls this again. *)
let empty input =
  match Unix.read input buffer 0 (Bytes.length buffer) with
  | (_ : int) -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EINTR), _, _) -> ()

let rec post job =
  match Atomic.get inbox with
  | Asleep as before ->
      if Atomic.compare_and_set inbox before (Jobs [ job ]) then
        Option.iter ring !pipe
      else (* another post, or a cycle starts *) post job
  | Jobs jobs as before ->
      if not (Atomic.compare_and_set inbox before (Jobs (job :: jobs))) then
        (* another post, or Async took them, or its cycle ended *) post job

(* --- Async's cycles ------------------------------------------------------- *)

let rec fall_asleep rounds =
  take ();
  match Atomic.get inbox with
  | Asleep -> ()
  | Jobs [] as before when Atomic.compare_and_set inbox before Asleep -> ()
  | Jobs _ ->
      (* a post *)
      if rounds > 1 then fall_asleep (rounds - 1) else Option.iter ring !pipe

(* Async has other things to do as well. *)
let max_rounds = 64
let end_cycle () = fall_asleep max_rounds

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
  Scheduler.Expert.run_every_cycle_start take;
  Scheduler.Expert.run_every_cycle_end end_cycle

let enter () =
  if not (is_here ()) then
    invalid_arg
      "Concord_async: the calling thread does not run Async; only direct-style \
       operations can wait there";
  if Option.is_none !pipe then set_up ()
