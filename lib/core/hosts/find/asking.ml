open Concord_suspend

(* --- Is there a host? ------------------------------------------------------------- *)

type host = Suspends | Parks

(* Each request has a new closure. Otherwise the effect could be a constant, but [Extent] (in
   the folder holding) recognises an effect by its address. *)
let at_once (_ : (unit -> unit) ref) _ = Some Suspends

(* The argument is called when the effect of the suspension is on its way. *)
let reach =
  {
    Request.by_effect =
      (fun release ~otherwise ->
        Request.suspend_or (at_once release) ~otherwise:(fun () ->
            otherwise release));
    by_plugin = (fun plugin release -> plugin.suspend (at_once release));
    by_trigger =
      (fun trigger release ->
        match Probe.await_at_once trigger ~release with
        | Suspended -> Suspends
        | Blocked | Unhandled -> Parks);
    by_thread = (fun _ -> Parks);
  }

let probe passing =
  Probe.observe passing (fun release -> Request.ask reach release)

let has_host () =
  match probe { passing = ignore } with
  | Suspends -> true
  | Parks -> false
  | exception _ -> (* the host's cancellation, so there is a host *) true

let may_be_woken ~asleep = Others.may_wake ~asleep || has_host ()

(* The other threads are counted after [block], because [block] may set a timeout. A thread
   that could wake the task may have done so and ended by then. So the task is refused as if it
   were cancelled. If it was resumed before, that comes too late, and changes nothing. *)
let park_or_refuse e block =
  let block resumer =
    let given = block resumer in
    if Option.is_none given && not (Others.may_wake ~asleep:0) then
      ignore (resumer (Error e) : bool);
    given
  in
  match Park.suspend_thread block with
  | v -> v
  | exception refused when refused == e -> Reach.refuse e

(* --- Letting other tasks run --------------------------------------------------------- *)

let wakers_of_triggers : (Domain_local_await.t -> bool) list Atomic.t =
  Atomic.make []

let add_waker_of_trigger waker =
  Atomically.update wakers_of_triggers (List.cons waker)

let wake_later trigger =
  match Atomic.get wakers_of_triggers with
  | [] -> false
  | wakers -> List.exists (fun waker -> waker trigger) wakers

(* If a host suspends by the effect, it runs other tasks before one that is ready, even if that
   was resumed at once. The exception is a signal handler's, and the task is resumed already. *)
let resume_at_once () resumer =
  begin match resumer (Ok ()) with
  | (_ : bool) -> ()
  | exception e -> Late.keep e (Backtrace.get ())
  end;
  None

(* A trigger that is released before it is awaited doesn't suspend at all. So it is released
   soon after, either by a task of the scheduler ([wake_later]) or by the timers'
   thread. The timers' thread is late if the scheduler's loop keeps OCaml's lock while it is
   idle. A timeout is set in any case, because the other task may belong to another loop, which
   is busy.

   On a busy machine, the timeout may come before the task has performed its effect. Then this
   yield gives no turn to other tasks. Nothing else depends on that, because a loop of yields
   gets another turn later. Releasing the trigger while the effect is on its way would be
   certain. But Domainslib would then continue the task at once. *)
let await_turn (trigger : Domain_local_await.t) yield =
  let seconds = if wake_later trigger then 1e-3 else 1e-5 in
  match Timer.after seconds (fun () -> Park.release trigger) with
  | forget_timeout ->
      Backtrace.finally ~finally:forget_timeout (fun () ->
          try trigger.await () with Effect.Unhandled _ -> yield ())
  | exception (Unix.Unix_error _ | Sys_error _) -> yield ()

let turn =
  {
    Request.by_effect =
      (fun yield ~otherwise ->
        Request.suspend_or (resume_at_once ()) ~otherwise:(fun () ->
            otherwise yield));
    by_plugin = (fun plugin _ -> plugin.suspend (resume_at_once ()));
    by_trigger = await_turn;
    by_thread = (fun yield -> yield ());
  }

let yield () = Request.ask turn Thread.yield
let let_host_run () = Request.ask turn ignore

(* --- Starting tasks ------------------------------------------------------------------- *)

let perform_scopes () =
  match Effect.perform Scopes with
  | scopes -> Some scopes
  | exception Effect.Unhandled Scopes -> None

(* A host that handles only [Suspend] passes other effects on. So an answer to [Scopes] may
   come from the host around it, whose tasks would not be tasks of this host. [block] runs
   outside the host, so it finds the answer of the host around it. If both answers are the
   same, this host has none. *)
let scopes_or ~otherwise =
  let block _ = Some (Greedy.outside perform_scopes) in
  match Effect.perform (Suspend block) with
  | exception Effect.Unhandled (Suspend unhandled)
    when Identity.equal unhandled block ->
      otherwise ()
  | around -> (
      match (perform_scopes (), around) with
      | Some scopes, Some others when scopes == others -> None
      | scopes, _ -> scopes)

let fork =
  {
    Request.by_effect = (fun () ~otherwise -> scopes_or ~otherwise);
    by_plugin =
      (fun plugin () ->
        (* raises [Elsewhere] if the caller is in another scheduler *)
        plugin.protect ignore;
        plugin.scopes);
    by_trigger = (fun _ () -> None);
    by_thread = (fun () -> None);
  }

let scopes () = Request.ask fork ()
