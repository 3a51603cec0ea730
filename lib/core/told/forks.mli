(** Tasks that fork others, while waits are kept or the program is traced.

    A task that forks another one makes its {!Who.origin}, and gives it to
    {!Who.make} when the identity of the new task is asked for. This is never
    asked for most tasks, so they don't cost a weak pointer. *)

val max_frames : int
(** The number of the parent's frames that are noted. *)

val are_observed : unit -> bool
(** If [false], nothing here needs to be called. Two reads. *)

val here : unit -> Who.origin
(** The calling task is the parent, at its frames. *)

val run : Who.origin -> ask:(unit -> Who.t) -> (unit -> 'a) -> 'a
(** [run origin ~ask f] is [f ()]. Call it in the new task, whose identity is
    [ask ()]. The task and its end are traced. *)
