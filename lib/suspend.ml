open Concord_internal

type 'a resumer = ('a, exn) result -> bool
type _ Effect.t += Suspend : ('a resumer -> 'a option) -> 'a Effect.t

(* --- Suspending ----------------------------------------------------------- *)

(* A plug-in that finds itself elsewhere was noted before its scheduler was left,
   which cannot be observed; or it was found, but its scheduler runs in another
   thread of the domain, or below a callback from C, which no effect can pass. *)
let rec suspend_found block =
  match Innermost.find () with
  | Nobody -> Park.suspend_thread block
  | Trigger trigger -> Park.suspend trigger block
  | Noted plugin -> (
      match plugin.suspend block with
      | v -> v
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          suspend_found block)
  | Found plugin -> (
      match plugin.suspend block with
      | v -> v
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          Park.suspend_thread block)

let suspend_unhandled block =
  if Innermost.is_plain () then
    let trigger = Domain_local_await.prepare_for_await () in
    if Innermost.no_scheduler trigger then Park.suspend_thread block
    else Park.suspend trigger block
  else suspend_found block

let suspend block =
  match Effect.perform (Suspend block) with
  | v -> v
  | exception Effect.Unhandled (Suspend unhandled)
    when Physical.equal unhandled block ->
      suspend_unhandled block

(* --- Waiting in a structure ----------------------------------------------- *)

type ('x, 'a) waiter = ('x, 'a) Waiter.t = {
  arg : 'x;
  choice : Waiter.choice;
  mutable resume : ('a, exn) result -> bool;
}

type ('t, 'x, 'a) operation = {
  attempt : 't -> 'x -> 'a option;
  enlist : 't -> ('x, 'a) waiter -> bool;
  withdraw : 't -> ('x, 'a) waiter -> unit;
}

let rec attempt_or_enlist operation t w resumer =
  (* [attempt] may raise: then there is nothing to withdraw *)
  Waiter.leave w;
  match operation.attempt t w.arg with
  | Some _ as got -> got
  | None ->
      (* somebody was faster *)
      w.resume <- resumer;
      if operation.enlist t w then None
      else attempt_or_enlist operation t w resumer

let withdraw operation t w =
  if Waiter.is_live w then begin
    Waiter.leave w;
    operation.withdraw t w
  end

let withdraw_and_raise operation t w e =
  let backtrace = Printexc.get_raw_backtrace () in
  withdraw operation t w;
  Printexc.raise_with_backtrace e backtrace

let[@inline] block operation t w resumer =
  w.resume <- resumer;
  if operation.enlist t w then None else attempt_or_enlist operation t w resumer

let wait operation t arg =
  let w = Waiter.make arg in
  let block resumer = block operation t w resumer in
  match Effect.perform (Suspend block) with
  | v -> v
  | exception Effect.Unhandled (Suspend unhandled)
    when Physical.equal unhandled block -> (
      try suspend_unhandled block with e -> withdraw_and_raise operation t w e)
  | exception e -> withdraw_and_raise operation t w e

(* --- Protecting ----------------------------------------------------------- *)

type _ Effect.t += Protect : (unit -> unit) Effect.t

let rec protect_unhandled f =
  match Innermost.find () with
  | Nobody -> Park.protect_thread f
  | Trigger _ ->
      (* a host without cancellation, or one that does not tell *) f ()
  | Noted plugin -> (
      match plugin.protect f with
      | v -> v
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          protect_unhandled f)
  | Found plugin -> (
      match plugin.protect f with
      | v -> v
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          Park.protect_thread f)

let protect f =
  match Effect.perform Protect with
  | unprotect -> (
      match f () with
      | v ->
          unprotect ();
          v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          unprotect ();
          Printexc.raise_with_backtrace e backtrace)
  | exception Effect.Unhandled Protect -> protect_unhandled f

(* --- Reaching the host ---------------------------------------------------- *)

type reaching = { reaching : 'b. 'b Effect.t -> unit }
type host = Suspends | Parks

let at_once _ = Some ()

(* A trigger that was released does not perform its effect any more; so it is
   released when the effect is on its way. One that performs none, but blocks the
   thread, is released by a timeout. *)
let reach_by trigger ~release =
  let performed = ref false in
  (release :=
     fun () ->
       performed := true;
       Park.release trigger);
  let forget_timeout =
    try Timer.after 0.01 (fun () -> Park.release trigger)
    with Unix.Unix_error _ | Sys_error _ -> ignore
  in
  Fun.protect ~finally:forget_timeout @@ fun () ->
  match trigger.await () with
  | () -> if !performed then Suspends else Parks
  | exception Effect.Unhandled _ -> Parks

let rec reach_unhandled ~release =
  match Innermost.find () with
  | Nobody -> Parks
  | Trigger trigger -> reach_by trigger ~release
  | Noted plugin -> (
      match plugin.suspend at_once with
      | () -> Suspends
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          reach_unhandled ~release)
  | Found plugin -> (
      match plugin.suspend at_once with
      | () -> Suspends
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          Parks)

let reach_host { reaching } =
  let release = ref ignore in
  let effc (type b) (effect_ : b Effect.t) :
      ((b, host) Effect.Deep.continuation -> host) option =
    !release ();
    reaching effect_;
    None
  in
  let reach () =
    match Effect.perform (Suspend at_once) with
    | () -> Suspends
    | exception Effect.Unhandled (Suspend unhandled)
      when Physical.equal unhandled at_once ->
        reach_unhandled ~release
  in
  Effect.Deep.try_with reach () { effc }

let is_cancelled () =
  match reach_host { reaching = ignore } with
  | Suspends | Parks -> false
  | exception _ -> true

(* --- Schedulers that handle [Suspend] ------------------------------------- *)

module Host = struct
  exception Elsewhere = Plugin.Elsewhere

  type plugin = Plugin.t = {
    name : string;
    recognises : Domain_local_await.t -> bool;
    suspend : 'a. ('a resumer -> 'a option) -> 'a;
    protect : 'a. (unit -> 'a) -> 'a;
  }

  type _ Effect.t += Protect = Protect

  let plug_in = Plugin.add

  (* [up] while it is known that this scheduler is the innermost one: others put it
     down only. [asked] when [prepare] was called. *)
  type t = Innermost.flag = { mutable up : bool; mutable asked : bool }

  let create () = { up = false; asked = false }

  (* [state], for one use of [await]

     State       Left by   To          By whom
     Init        await     Waiting r   the waiting task, in [block]
                 release   Released    anyone
     Waiting r   release   Released    anyone; it then calls [r]
     Released    never (terminal) *)
  type trigger = Init | Waiting of unit resumer | Released

  (* This is owed. A signal handler may raise before the resumer has decided. *)
  let resume resumer =
    match resumer (Ok ()) with
    | (_ : bool) -> ()
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        ignore (resumer (Ok ()) : bool);
        Printexc.raise_with_backtrace e backtrace

  let prepare t outside () =
    t.asked <- true;
    let state = Atomic.make Init in
    let release () =
      match Atomic.exchange state Released with
      | Waiting resumer -> resume resumer
      | Init | Released -> ()
    and await () =
      if Atomic.get state != Released then
        let block resumer =
          if Atomic.compare_and_set state Init (Waiting resumer) then None
          else (* released meanwhile *) Some ()
        in
        match Effect.perform (Suspend block) with
        | () -> ()
        | exception Effect.Unhandled (Suspend unhandled)
          when Physical.equal unhandled block ->
            (* Not in a task: in a C callback, a finaliser, a signal handler. *)
            outside block
    in
    Domain_local_await.{ release; await }

  let is_ours =
    let sample = prepare (create ()) ignore () in
    fun (trigger : Domain_local_await.t) ->
      Physical.same_code trigger.await sample.await

  let using ?(outside = Park.suspend_thread) t loop =
    Innermost.prepare_domain ~is_ours;
    Domain_local_await.using ~prepare_for_await:(prepare t outside)
      ~while_running:(fun () ->
        (* A flag that was put up on the domain that the loop has left would not go
           down for what happens on this one. *)
        t.up <- false;
        Innermost.raise_flag t;
        loop ())

  (* A scheduler was registered, or somebody prepared to wait: ask who would be
     asked. *)
  let[@inline never] ask t =
    t.asked <- false;
    match Innermost.ask () with
    | exception _ ->
        (* of a foreign scheduler, or of a signal handler *) t.asked
    | (_ : Domain_local_await.t) ->
        if t.asked then Innermost.raise_flag t;
        t.asked

  let[@inline] is_innermost t = t.up || ask t
end
