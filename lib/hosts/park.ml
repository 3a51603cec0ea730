(* [cell], the only Atomic here

   State       Left by           To          By whom
   Waiting t   resume *          Done r      any resumer's caller
               give up *         Gone        the waiting task: [block] gave a
                                             value or raised, or [await] raised
               rearm             Waiting t'  the waiting task, after [t] woke it
                                             without a resumption
   Done, Gone  never (terminal)

   * These race for the one decision of H3. Debt: whoever installs [Done] calls
   [release] of the trigger that it replaced, once, after that. *)
type 'a cell =
  | Waiting of Domain_local_await.t
  | Done of ('a, exn) result
  | Gone

(* In a signal handler the calling thread may hold the lock of the trigger, which
   the waiting threads of a domain may share: then another thread releases it. *)
let release (trigger : Domain_local_await.t) =
  try trigger.release ()
  with Sys_error _ -> ignore (Thread.create trigger.release () : Thread.t)

let rec resume cell outcome =
  match Atomic.get cell with
  | Waiting trigger as before ->
      if Atomic.compare_and_set cell before (Done outcome) then begin
        release trigger;
        true
      end
      else (* resumed, given up or rearmed: look again *)
        resume cell outcome
  | Done _ | Gone -> false

(* The task goes on with [f ()], unless it was resumed before. *)
let rec give_up cell f =
  match Atomic.get cell with
  | Waiting _ as before ->
      if Atomic.compare_and_set cell before Gone then f ()
      else (* resumed meanwhile: the outcome wins *) give_up cell f
  | Done (Ok v) -> v
  | Done (Error e) -> raise e
  | Gone -> assert false (* only the waiting task installs it, and leaves *)

(* For a thread whose domain has a scheduler in which the thread does not run. *)
let thread_trigger () =
  let mutex = Stdlib.Mutex.create ()
  and condition = Stdlib.Condition.create () in
  let released = ref false in
  let release () =
    Stdlib.Mutex.lock mutex;
    released := true;
    Stdlib.Mutex.unlock mutex;
    Stdlib.Condition.signal condition
  and await () =
    Stdlib.Mutex.lock mutex;
    Fun.protect
      ~finally:(fun () -> Stdlib.Mutex.unlock mutex)
      (fun () ->
        while not !released do
          Stdlib.Condition.wait condition mutex
        done)
  in
  Domain_local_await.{ release; await }

let rec await cell (trigger : Domain_local_await.t) =
  match trigger.await () with
  | () -> rearm cell Domain_local_await.prepare_for_await
  | exception Effect.Unhandled _ -> rearm cell thread_trigger
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      give_up cell (fun () -> Printexc.raise_with_backtrace e backtrace)

(* Woken, and possibly not by a resumption: the contract of [await] allows it. *)
and rearm cell prepare =
  match Atomic.get cell with
  | Done (Ok v) -> v
  | Done (Error e) -> raise e
  | Waiting _ as before -> (
      match prepare () with
      | trigger ->
          if Atomic.compare_and_set cell before (Waiting trigger) then
            await cell trigger
          else (* resumed meanwhile *) rearm cell prepare
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          give_up cell (fun () -> Printexc.raise_with_backtrace e backtrace))
  | Gone -> assert false (* only the waiting task installs it, and leaves *)

let suspend trigger block =
  let cell = Atomic.make (Waiting trigger) in
  match block (resume cell) with
  | None -> await cell trigger
  | Some v -> give_up cell (fun () -> v)
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      give_up cell (fun () -> Printexc.raise_with_backtrace e backtrace)

let suspend_thread block = suspend (thread_trigger ()) block
