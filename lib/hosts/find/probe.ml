open Concord_suspend

type found = Suspended | Blocked | Unhandled
type passing = { passing : 'b. 'b Effect.t -> unit }

let at_once _ = Some ()

(* A trigger that was released does not perform its effect any more, so it is released
   when the effect is on its way. One that performs no effect, but blocks the thread, has
   to be released by another thread, until [stop] is called. [Blocked] is certain only if
   that thread was not too early. *)
let await (trigger : Domain_local_await.t) ~release ~stop =
  let performed = ref false in
  (release :=
     fun () ->
       performed := true;
       Park.release trigger);
  Fun.protect ~finally:stop @@ fun () ->
  match trigger.await () with
  | () -> if !performed then Suspended else Blocked
  | exception Effect.Unhandled _ -> Unhandled

(* Creates no thread. On a busy machine the time may pass before the caller has performed its
   effect. Then the answer is [Blocked], which [await_at_once] does not believe. *)
let released_in_time trigger ~release =
  match Timer.after 0.01 (fun () -> Park.release trigger) with
  | forget_timeout -> await trigger ~release ~stop:forget_timeout
  | exception (Unix.Unix_error _ | Sys_error _) -> Blocked

(* How many turns the caller's thread gets between its call of [await] and the effect. It
   passes a few allocations there, so it loses OCaml's lock once, if at all. *)
let turns = 50

(* Counts the turns of the caller's thread instead of time, so that load cannot change the
   answer. The helper is a thread of the caller's domain, which runs only while the caller
   does not have OCaml's lock. If the caller wants the lock, [Thread.yield] passes it on, and
   the helper continues after the caller's turn. If the caller is blocked, it does not want
   the lock. So a caller that the system does not run holds the helper up as long as that
   takes. The delay is for an [await] that locks something before it performs its effect. *)
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
  (* The program's signal handlers may raise, which would end the helper. *)
  match Signals.while_blocked (fun _ -> Thread.create help turns) with
  | (_ : Thread.t) ->
      await trigger ~release ~stop:(fun () -> Atomic.set awaits false)
  | exception Sys_error _ -> Blocked

let await_at_once trigger ~release =
  match released_in_time trigger ~release with
  | (Suspended | Unhandled) as certain -> certain
  | Blocked ->
      let trigger = Domain_local_await.prepare_for_await () in
      (* The scheduler of a task does not end while the task runs. *)
      if Innermost.no_scheduler trigger then Unhandled
      else released_by_turns trigger ~release

(* [f release], with all its effects seen to pass. *)
let observe { passing } f =
  let release = ref ignore in
  let effc (type b) (effect_ : b Effect.t) :
      ((b, _) Effect.Deep.continuation -> _) option =
    !release ();
    passing effect_;
    None
  in
  Effect.Deep.try_with f release { effc }

(* Where a scheduler may take every effect, no other one's may be performed. Outside
   of tasks the triggers of ours suspend the thread. *)
let is_inside trigger =
  let reached =
    if Greedy.may_be_around () then Suspended
    else if Trigger.is_handler trigger then
      match Effect.perform (Suspend at_once) with
      | () -> Suspended
      | exception Effect.Unhandled (Suspend _) -> Unhandled
    else
      observe { passing = ignore } (fun release ->
          await_at_once trigger ~release)
  in
  match reached with Suspended | Blocked -> true | Unhandled -> false
