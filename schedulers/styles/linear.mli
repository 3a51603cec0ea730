(** Handlers that resume each continuation exactly once.

    {b Stability}: experimental, may change in any release.

    Code that holds a file, a lock or a permit counts on it that whatever it
    calls returns or raises. A handler that drops its continuation breaks that:
    the computation stays where it is, and what it holds is never given back.
    {!case} makes such a handler end the computation instead.

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
(** Which continuation was dropped. *)

exception Dropped of dropped
(** Raised in a computation whose handler dropped its continuation, where the
    computation performed the effect. *)

val case :
  (('a, 'b) Effect.Deep.continuation -> 'b) ->
  ('a, 'b) Effect.Deep.continuation ->
  'b
(** [case handle] is [handle], for one case of a handler that does not keep the
    continuation: if [handle k] has returned or raised and [k] was not resumed,
    then [case handle k] is {!drop}[ k] before it returns or raises that.

    A handler that keeps continuations to resume them later, as a scheduler
    does, must not use it: what it kept has ended, and to resume it raises
    [Effect.Continuation_already_resumed]. If it drops some and keeps others, it
    calls {!drop} itself. Handlers further out may keep what they like: [handle]
    and the computation may be suspended.

    - {b Suspends} only where [handle], or the computation as it unwinds, does.
    - {b Cost}: one more stack frame: [continue] as the last thing in [handle]
      is no tail call. So use it for the cases that may drop.
    - {b Raises} [e] if [handle k] raises [e], whatever the computation raises
      while it unwinds; else as {!drop}. *)

val drop : ('a, 'b) Effect.Deep.continuation -> unit
(** [drop k] discontinues [k] with {!Dropped}, so that the computation unwinds;
    nothing, if [k] was resumed before. What the computation returns, or what
    the handler makes of {!Dropped}, is dropped; it may perform further effects.
    - {b Suspends} only where the computation does.
    - {b Raises} [e] if the computation raises [e], other than its {!Dropped},
      also as wrapped by [Fun.protect] where a finaliser was dropped. *)
