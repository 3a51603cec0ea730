(** Tasks that fork others, while waits are kept or the program is traced.

    Who forks a task makes its {!Who.origin}, and gives it to {!Who.make} when
    somebody asks which task it is. Most tasks are never asked, so that none of
    them costs a weak pointer. *)

val max_frames : int
(** How many frames of the parent are noted. *)

val are_observed : unit -> bool
(** Otherwise nothing here needs to be called. Two reads. *)

val here : parent:Who.t -> Who.origin
(** At the caller's frames. *)

val run : Who.origin -> ask:(unit -> Who.t) -> (unit -> 'a) -> 'a
(** [run origin ~ask f] is [f ()], to be called in the new task, which [ask ()]
    says: it and its end are traced. *)
