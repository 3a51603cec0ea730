(** Who holds a structure, kept in the structure's state: a mutex that is locked
    has a place there for its owner. While waits are not kept that is
    {!unknown}, and costs nothing.

    None of these functions suspends, but {!within} as its function. *)

type t = private Waits.holder option
(** Immutable, but for the time since when. *)

val unknown : t
(** Compared with [==]. *)

val are_known : unit -> bool
(** Are waits kept? {b Cost}: one read. *)

val caller : unit -> t
(** The calling task, at the caller's frames; {!unknown} while waits are not
    kept. To be asked before an operation on the structure begins, in the task
    itself: the operation's argument has it, so that whoever hands the structure
    over writes it down in the same step. {b Cost} while waits are not kept: one
    read. *)

val taker : unit -> t
(** {!caller}, for an operation that may wait for a holder: the caller may be
    refused here ({!Strict.before_lock}). *)

val within : (t -> 'a) -> 'a
(** [within f] is [f holder], the calling task, which is known for the extent of
    [f] ({!Extent.within}). For when holders {!are_known}, and for an operation
    that may wait for one, as {!taker}. *)

val taken : t -> unit
(** To be called when a task that had to wait continues: it holds the structure
    from now on. No signal handler runs here. *)

val waits : t -> unit
(** To be called before a task waits for the structure: it does not hold it
    until {!taken}, even if the structure's state says so. The state may name a
    task to which the structure is being handed over, and which refuses it. *)

val to_list : t -> Waits.holder list

(** {2 Mutexes}

    What is told of one that has an {!unknown} owner: nothing. *)

val before_lock : t -> 'mutex -> owner:('mutex -> t) -> unit
(** [before_lock caller mutex ~owner]: {!Misuse.before_lock}. [owner mutex] is
    the owner at that moment. *)

val before_unlock : 'mutex -> owner:t -> unit
(** {!Misuse.before_unlock}. *)

(** {2 Several holders of one structure} *)

val without : t -> t list -> t list
(** The holder has given back what it held. A task may give back what another
    one took: then it is not known any more who holds the structure, unless one
    task holds all that is left. O(n). *)

val all : count:int -> t list -> Waits.holder list
(** Those that are known, and as many others as there are besides them. *)
