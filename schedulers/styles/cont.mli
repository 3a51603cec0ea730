(** Call with current continuation.

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    [callcc f] calls [f] with the rest of the computation, as a function that
    never returns. If you call this function, the program continues where
    {!callcc} was called. (Section 4.1 of the paper.)

    {[
      # Cont.run (fun () ->
          print_int (1 + Cont.callcc (fun k -> 10 * Cont.throw k 2)))
      3
      - : unit = ()
    ]}

    You can use a continuation at most once, by {!throw}, or by the return of
    [f]. The second time raises [Effect.Continuation_already_resumed]. If you
    never use a continuation, it is not unwound, so its finalisers do not run.
*)

type 'a t
(** A continuation that waits for an ['a]. *)

val run : (unit -> unit) -> unit
(** [run f] is [f ()]. A continuation reaches as far as the end of [run],
    because it stands for the rest of the computation up to there.

    - {b Raises} [e] if [f], or the continuation to which it has thrown, raises
      [e]. *)

val callcc : ('a t -> 'a) -> 'a
(** [callcc f] is [f k], where [k] is the continuation of this call. If you
    {!throw} a value to [k], this call returns it.

    - {b Raises} [Invalid_argument] outside {!run}. *)

val throw : 'a t -> 'a -> 'b
(** [throw k v] continues with [k], with the value [v].

    The code that would have come after [throw] is dropped, and its finalisers
    run. ([throw] raises an exception. Don't catch it on its way to {!run} or to
    {!callcc}.) *)

val throw_exn : 'a t -> exn -> 'b
(** [throw_exn k e] continues with [k], in which {!callcc} raises [e]. *)

(** {2 For schedulers} *)

val leave : ('a t -> unit) -> 'a
(** [leave f] is {!callcc}, for a function that ends by {!throw}, or ends
    {!run}, and calls no {!callcc}. It costs less, because it needs no stack of
    its own. *)

val fresh : ?meaning:unit Prompt.meaning -> (unit -> unit) -> unit t
(** [fresh f] is a continuation that calls [f] and reaches no further. If an
    effect is performed in there and has a {{!Prompt.type-meaning}meaning}, it
    is a {!leave}. *)
