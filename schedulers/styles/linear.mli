(** Handlers that resume each continuation exactly once.

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    Code that holds a file, a lock or a permit expects that each function that
    it calls returns or raises. If a handler drops its continuation instead, the
    computation never ends, and never gives back what it holds. {!case} makes
    such a handler end the computation:

    {[
      # type _ Effect.t += E : unit Effect.t
      type _ Stdlib.Effect.t += E : unit eff
      # let holding () =
          Fun.protect
            (fun () -> Effect.perform E)
            ~finally:(fun () -> print_endline "given back")
      val holding : unit -> unit = <fun>
      # let effc (type a) (e : a Effect.t) :
            ((a, unit) Effect.Deep.continuation -> unit) option =
          match e with E -> Some (Linear.case (fun _ -> ())) | _ -> None
      val effc : 'a eff -> (('a, unit) continuation -> unit) option = <fun>
      # Effect.Deep.try_with holding () { effc }
      given back
      - : unit = ()
    ]} *)

type dropped
(** Identifies the continuation that was dropped. *)

exception Dropped of dropped
(** The computation gets [Dropped _] where it performed the effect, if its
    handler dropped its continuation. *)

val case :
  (('a, 'b) Effect.Deep.continuation -> 'b) ->
  ('a, 'b) Effect.Deep.continuation ->
  'b
(** [case handle] is [handle], for one case of a handler that does not keep the
    continuation.

    If [handle k] returns or raises without having resumed [k], [case handle k]
    calls {!drop} before it returns or raises the same.

    A handler that keeps continuations to resume them later, as a scheduler
    does, must not use it, because the continuations that it kept have ended. If
    it resumes one, that raises [Effect.Continuation_already_resumed]. If it
    drops some and keeps others, let it call {!drop} itself. Handlers further
    out may keep any continuations, so [handle] and the computation may be
    suspended.

    - {b Suspends} only where [handle], or the computation as it unwinds, does.
    - {b Cost}: one more stack frame, because [continue] at the end of [handle]
      is not a tail call. So use it only for the cases that may drop.
    - {b Raises} [e] if [handle k] raises [e], whatever the computation raises
      while it unwinds. Otherwise it raises the same as {!drop}. *)

val drop : ('a, 'b) Effect.Deep.continuation -> unit
(** [drop k] discontinues [k] with {!Dropped}, so that the computation unwinds.

    If [k] was resumed before, it does nothing. The result of the computation,
    or of the handler for {!Dropped}, is dropped. The computation may perform
    further effects.

    - {b Suspends} only where the computation does.
    - {b Raises} [e] if the computation raises [e], other than its {!Dropped}.
      If [Fun.protect] wraps this [Dropped], because a finaliser was dropped, it
      is not raised either. *)
