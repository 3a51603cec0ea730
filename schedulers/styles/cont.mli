(** Call with current continuation.

    {b Stability}: experimental, may change in any release.

    [callcc f] calls [f] with what remains to be done: a function that never
    returns, as to call it is to go on from where {!callcc} was called. (Section
    4.1 of the paper.)

    {[
      # Cont.run (fun () ->
          print_int (1 + Cont.callcc (fun k -> 10 * Cont.throw k 2)))
      3
      - : unit = ()
    ]}

    A continuation is used at most once ([Effect.Continuation_already_resumed]
    is raised the second time), by {!throw}, or by the return of [f]. One that
    is never used is not unwound: its finalisers do not run. *)

type 'a t
(** A continuation that waits for an ['a]. *)

val run : (unit -> unit) -> unit
(** [run f] is [f ()]. A continuation reaches as far as the end of [run]: it
    stands for what remains to be done up to there.

    - {b Raises} [e] if [f], or the continuation to which it has thrown, raises
      [e]. *)

val callcc : ('a t -> 'a) -> 'a
(** [callcc f] is [f k], where [k] is the continuation of this call; and to
    {!throw} a value to [k] lets this call return it.

    - {b Raises} [Invalid_argument] outside of {!run}. *)

val throw : 'a t -> 'a -> 'b
(** [throw k v] goes on with [k], with the value [v]. What would have come after
    [throw] is given up: its finalisers run. ([throw] is an exception that no
    code should catch on its way to {!run} or to {!callcc}.) *)

val throw_exn : 'a t -> exn -> 'b
(** [throw_exn k e] goes on with [k], in which {!callcc} raises [e]. *)

(** {2 For schedulers} *)

val leave : ('a t -> unit) -> 'a
(** [leave f] is {!callcc}, for a function that ends by {!throw}, or ends
    {!run}, and calls no {!callcc}. It needs no stack of its own, and so costs
    less. *)

val fresh : ?meaning:unit Prompt.meaning -> (unit -> unit) -> unit t
(** A continuation that calls the function and reaches no further. An effect
    that is performed in there and has a {{!Prompt.type-meaning}meaning} is a
    {!leave}. *)
