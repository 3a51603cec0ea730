(* [cell], the only Atomic here

   State       Left by           To          By whom
   Waiting t   resume *          Done r      any resumer's caller
               give up *         Gone        the waiting task: [block] gave a
                                             value or raised, or it was interrupted
               rearm             Waiting t'  the waiting task, after [t] woke it
                                             without a resumption
   Done, Gone  never (terminal)

   * These race for the one decision of H3. Debt: whoever installs [Done] calls
   [release] of the trigger that it replaced, after that. A signal handler may raise
   anywhere; the debt is paid before the exception goes on. *)
type 'a cell =
  | Waiting of Domain_local_await.t
  | Done of ('a, exn) result
  | Gone

(* A scheduler's trigger may need a lock that the calling thread has, if this is a
   signal handler: then another thread releases it. Any other exception is that of a
   signal handler, and may have come too early; to release twice does no harm. *)
let release (trigger : Domain_local_await.t) =
  match trigger.release () with
  | () -> ()
  | exception Sys_error _ ->
      ignore (Thread.create trigger.release () : Thread.t)
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      trigger.release ();
      Printexc.raise_with_backtrace e backtrace

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
  | Gone -> (* interrupted after it had given up *) f ()

(* That of a thread in which no scheduler runs. *)
let thread_trigger () =
  let parker = Parker.create () in
  Domain_local_await.
    {
      release = (fun () -> Parker.release parker);
      await = (fun () -> Parker.await parker);
    }

let rec await cell (trigger : Domain_local_await.t) =
  match trigger.await () with
  | () -> rearm cell Domain_local_await.prepare_for_await
  | exception Effect.Unhandled _ -> rearm cell thread_trigger

(* Woken, and possibly not by a resumption: the contract of [await] allows it. *)
and rearm cell prepare =
  match Atomic.get cell with
  | Done (Ok v) -> v
  | Done (Error e) -> raise e
  | Waiting _ as before ->
      let trigger = prepare () in
      if Atomic.compare_and_set cell before (Waiting trigger) then
        await cell trigger
      else (* resumed meanwhile *) rearm cell prepare
  | Gone -> assert false (* only the waiting task installs it, and leaves *)

let suspend_until trigger block ~too_late =
  let cell = Atomic.make (Waiting trigger) in
  match block (resume cell) with
  | None -> (
      match await cell trigger with
      | v -> v
      | exception e ->
          (* of the host, or of a signal handler *)
          let backtrace = Printexc.get_raw_backtrace () in
          let raise_it () = Printexc.raise_with_backtrace e backtrace in
          let v = give_up cell raise_it in
          too_late e backtrace;
          v)
  | Some v -> give_up cell (fun () -> v)
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      give_up cell (fun () -> Printexc.raise_with_backtrace e backtrace)

let suspend trigger block =
  (* The host knows that it has cancelled the task. *)
  suspend_until trigger block ~too_late:(fun _ _ -> ())

(* --- Parking a thread ------------------------------------------------------- *)

let this_thread () = Thread.id (Thread.self ())

(* What a signal handler raises in a thread that waits is to a thread what its host's
   cancellation is to another task. If it comes too late, as the thread was resumed, or
   while the thread is in [protect], then the next suspension of the thread raises it.

   Of both lists any thread adds and removes what is its own. *)
type overdue = { thread : int; exn : exn; backtrace : Printexc.raw_backtrace }

let overdue : overdue list Atomic.t = Atomic.make []

(* The threads that are in [protect], once for each time. *)
let protected : int list Atomic.t = Atomic.make []

let is_protected () =
  match Atomic.get protected with
  | [] -> false
  | threads -> List.mem (this_thread ()) threads

let rec keep exn backtrace =
  let before = Atomic.get overdue in
  let kept = { thread = this_thread (); exn; backtrace } in
  if not (Atomic.compare_and_set overdue before (kept :: before)) then
    keep exn backtrace

(* The first one; who interrupts a thread twice hears of it once. *)
let rec raise_overdue () =
  let before = Atomic.get overdue and thread = this_thread () in
  match List.partition (fun kept -> kept.thread = thread) before with
  | [], _ -> ()
  | mine, others ->
      if Atomic.compare_and_set overdue before others then
        let { exn; backtrace; _ } = List.hd (List.rev mine) in
        Printexc.raise_with_backtrace exn backtrace
      else raise_overdue ()

let protected_trigger () =
  let parker = Parker.create () in
  let rec await () =
    match Parker.await parker with
    | () -> ()
    | exception e ->
        keep e (Printexc.get_raw_backtrace ());
        await ()
  in
  Domain_local_await.{ release = (fun () -> Parker.release parker); await }

let suspend_thread block =
  if is_protected () then
    suspend_until (protected_trigger ()) block ~too_late:keep
  else begin
    if not (List.is_empty (Atomic.get overdue)) then raise_overdue ();
    suspend_until (thread_trigger ()) block ~too_late:keep
  end

let rec without thread = function
  | [] -> []
  | first :: rest when first = thread -> rest
  | first :: rest -> first :: without thread rest

let rec change_protected f =
  let before = Atomic.get protected in
  if not (Atomic.compare_and_set protected before (f before)) then
    change_protected f

let leave_protected thread =
  match change_protected (without thread) with
  | () -> ()
  | exception e ->
      (* of a signal handler, before it was changed *)
      let backtrace = Printexc.get_raw_backtrace () in
      change_protected (without thread);
      Printexc.raise_with_backtrace e backtrace

let protect_thread f =
  let thread = this_thread () in
  change_protected (List.cons thread);
  match f () with
  | v ->
      leave_protected thread;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      leave_protected thread;
      Printexc.raise_with_backtrace e backtrace
