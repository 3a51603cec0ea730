open Concord_suspend

type found = Suspended | Blocked | Unhandled
type passing = { passing : 'b. 'b Effect.t -> unit }

let at_once _ = Some ()

(* A trigger that was released no longer performs its effect. So it is released when the effect
   is on its way. If [await] blocks the thread instead, another thread has to release the
   trigger, unless [stop] was called before. The result [Blocked] is certain only if that
   thread didn't release too early. *)
let await (trigger : Domain_local_await.t) ~release ~stop =
  let performed = ref false in
  (release :=
     fun () ->
       performed := true;
       Park.release trigger);
  Backtrace.finally ~finally:stop @@ fun () ->
  match trigger.await () with
  | () -> if !performed then Suspended else Blocked
  | exception Effect.Unhandled _ -> Unhandled

(* This creates no thread. On a busy machine, the time may be over before the caller has
   performed its effect. Then the result is [Blocked], which [await_at_once] checks again. *)
let released_in_time trigger ~release =
  match Timer.after 0.01 (fun () -> Park.release trigger) with
  | forget_timeout -> await trigger ~release ~stop:forget_timeout
  | exception (Unix.Unix_error _ | Sys_error _) -> Blocked

(* The number of turns that the caller's thread gets between its call of [await] and the
   effect. It makes a few allocations there, so it loses OCaml's lock once, if at all. *)
let turns = 50

(* This counts the turns of the caller's thread instead of time, so load can't change the
   answer. The helper is a thread of the caller's domain. It runs only while the caller doesn't
   have OCaml's lock. If the caller wants the lock, [Thread.yield] passes it on, and the helper
   continues after the caller's turn. If the caller is blocked, it doesn't want the lock. So if
   the system doesn't run the caller, the helper waits as long as that takes. The delay is for
   an [await] that locks something before it performs its effect. *)
let released_by_turns trigger ~release =
  let awaits = Atomic.make true in
  let rec help left =
    if Atomic.get awaits then
      if left = 0 then Park.release trigger
      else begin
        Thread.delay 0.000_1;
        Thread.yield ();
        help (left - 1)
      end
  in
  (* Block signals, because an exception of the program's handlers would end the helper. *)
  match Signals.while_blocked (fun _ -> Thread.create help turns) with
  | (_ : Thread.t) ->
      await trigger ~release ~stop:(fun () -> Atomic.set awaits false)
  | exception Sys_error _ -> Blocked

let await_at_once trigger ~release =
  match released_in_time trigger ~release with
  | (Suspended | Unhandled) as certain -> certain
  | Blocked ->
      let trigger = Domain_local_await.prepare_for_await () in
      (* While a task runs, its scheduler doesn't end. *)
      if Innermost.no_scheduler trigger then Unhandled
      else released_by_turns trigger ~release

(* [observe { passing } f] calls [f release], and sees all effects of [f] pass. *)
let observe { passing } f =
  let release = ref ignore in
  let effc (type b) (effect_ : b Effect.t) :
      ((b, _) Effect.Deep.continuation -> _) option =
    !release ();
    passing effect_;
    None
  in
  Effect.Deep.try_with f release { effc }

(* If a greedy scheduler may be around, no effect of another scheduler may be performed. A
   trigger of our own suspends the thread outside of tasks, so it isn't awaited here. *)
let is_inside trigger =
  let reached =
    if Greedy.may_be_around () then Suspended
    else if Plugin.is_handler trigger then
      match Effect.perform (Suspend at_once) with
      | () -> Suspended
      | exception Effect.Unhandled (Suspend _) -> Unhandled
    else
      observe { passing = ignore } (fun release ->
          await_at_once trigger ~release)
  in
  match reached with Suspended | Blocked -> true | Unhandled -> false
