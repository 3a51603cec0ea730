(** Tasks that the test drives by hand. The test decides when a resumed task
    continues and when one is cancelled, and can act between the two.

    One thread drives all of them. This is the smallest host that keeps the
    contract of {!Concord.Tools.Suspend}. *)

exception Cancelled

type 'a t
(** A task. *)

val start : ?before_block:(unit -> unit) -> (unit -> 'a) -> 'a t
(** [start f] runs [f] until it waits. In each wait, [before_block] is called
    just before the structure's [block]. *)

val settle : unit -> unit
(** Lets the resumed and cancelled tasks continue, in the order in which they
    became ready, until all wait. *)

val cancel : 'a t -> bool
(** Cancels a waiting task, which continues in the next {!settle}. Returns
    [false] if the task was resumed or cancelled before, or is in
    [Tasks.protect]. *)

val stop : 'a t -> unit
(** Cancels a task permanently, as most hosts do. The task is cancelled where it
    waits, and at each later suspension before the structure's [block] is
    called, but not in [Tasks.protect]. *)

val waits : 'a t -> bool
(** Whether the task hasn't ended yet. *)

val result : 'a t -> 'a
(** The result of the task. If the task raised, this raises the same exception
    with its backtrace. *)

val unwound : 'a t -> unit
(** Fails unless the task has ended with {!Cancelled}. *)

val unwind : 'a t -> unit
(** Cancels a task, lets it and the others continue, and checks that it has
    ended. This combines {!cancel}, {!settle} and {!unwound}. *)

val before_turns : (unit -> unit) -> (unit -> 'a) -> 'a
(** [before_turns f g] is [g ()]. In it, [f ()] is called before each turn of a
    task, including the first one. *)

(** {2 Only resumed} *)

val watch : ?strike:exn -> (unit -> unit) -> bool ref
(** [watch f] runs [f] until it waits, and never continues it. The result says
    whether it was resumed. With [strike], its resumer raises that exception
    after the decision, as if a signal handler did. *)
