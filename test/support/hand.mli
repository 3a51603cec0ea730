(** Tasks that the test drives by hand: it decides when a resumed task goes on,
    when one is cancelled, and what happens between the two.

    One thread drives all of them. It is the smallest host that keeps the
    contract of {!Concord.Tools.Suspend}. *)

exception Cancelled

type 'a t
(** A task. *)

val start : ?before_block:(unit -> unit) -> (unit -> 'a) -> 'a t
(** [start f] runs [f] until it waits. [before_block] is called in each wait,
    just before the structure's [block]. *)

val settle : unit -> unit
(** Lets the resumed and the cancelled tasks go on, in the order in which they
    became ready, until all wait. *)

val cancel : 'a t -> bool
(** Cancels a task that waits: it goes on in {!settle}. [false] if it had been
    resumed or cancelled before, or is in [Tasks.protect]. *)

val stop : 'a t -> unit
(** Cancels a task for good, as most hosts do: where it waits, if it may, and at
    each suspension from now on, before the structure's [block] is called; but
    not in [Tasks.protect]. *)

val waits : 'a t -> bool
(** Whether it has not ended. *)

val result : 'a t -> 'a
(** What the task returned, or raised, with the backtrace. *)

val unwound : 'a t -> unit
(** Fails unless the task has ended with {!Cancelled}. *)

val unwind : 'a t -> unit
(** Cancels a task, and lets it and the others go on: {!cancel}, {!settle} and
    {!unwound}. *)

val before_turns : (unit -> unit) -> (unit -> 'a) -> 'a
(** [before_turns f g] is [g ()], in which [f ()] is called before each turn of
    a task, the first one included. *)

(** {2 Only resumed} *)

val watch : ?strike:exn -> (unit -> unit) -> bool ref
(** [watch f] runs [f] to where it waits, and never goes on; tells whether it
    was resumed. With [strike] its resumer raises that after the decision, as if
    a signal handler did. *)
