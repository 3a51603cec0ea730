(** The tasks that hold a structure, kept in the structure's state.

    For example, a locked mutex has a field for its owner. While waits are not
    kept, the owner is {!unknown}, which costs nothing. None of these functions
    suspends, except that {!within} suspends as its function. *)

type t = private Holder.t option
(** A holder. It is immutable, except for the time since when it holds. *)

val unknown : t
(** An unknown holder. Compare it with [==]. *)

val are_known : unit -> bool
(** [are_known ()] is [true] while waits are kept or measured. It costs one
    read. If they are only measured, a holder is known only by its time. *)

val caller : unit -> t
(** [caller ()] is the calling task with its stack frames, or {!unknown} while
    waits are not kept. Call it in the task itself, before an operation on the
    structure begins. Pass it in the operation's argument, because the task that
    hands the structure over records the new holder in the same step. While
    waits are not kept, it costs one read. *)

val taker : unit -> t
(** [taker ()] does the same as {!caller}, for an operation that may wait for a
    holder. Who observes may refuse the caller ({!Observer.before_wait}). While
    holders aren't {{!Observer.looks_at_takers}looked at}, it costs one read. *)

val within : (t -> 'a) -> 'a
(** [within f] calls [f holder], where [holder] is the calling task, which is
    known until [f] ends, if holders {!are_known}. Use it if
    {!Observer.looks_at_takers}, for an operation that may wait for one, as in
    {!taker}. *)

val taken : t -> unit
(** [taken t] records that a task that had to wait now holds the structure. Call
    it when the task continues. Unbroken. *)

val ending : Holder.ends -> t -> t
(** [ending ends t] is [t], a new holder that ends waits in this way. It is
    [Alone n] for a structure where each holder can end a wait, so a cycle is
    only reported if all of them wait. *)

val waits : t -> unit
(** [waits t] records that a task will wait for the structure. Until {!taken},
    the task doesn't hold the structure, even if the structure's state names it.
    The state may name a task to which the structure is being handed over, and
    which refuses it. *)

val to_list : t -> Holder.t list

(** {2 Mutexes}

    Nothing is reported about a mutex whose owner is {!unknown}. *)

val before_lock : t -> 'mutex -> owner:('mutex -> t) -> unit
(** [before_lock caller mutex ~owner] has to be called before the caller waits
    for the owner. [owner mutex] returns the owner at that moment.

    - {b Raises} [Sys_error] if the caller is certainly the owner. *)

val before_unlock : 'mutex -> owner:t -> unit
(** [before_unlock mutex ~owner] has to be called before the caller unlocks the
    mutex. Another task may have locked it. *)

(** {2 Measuring} *)

val gives_back : kind:string -> 'structure -> t -> unit
(** [gives_back ~kind structure t] has to be called before [t] gives back what
    it has taken, so that the time is measured. It does nothing while
    {!Observer.measures} is [false]. Unbroken. *)

(** {2 Several holders of one structure} *)

val own : t -> t list -> t
(** [own t holders] is the holder of the list that is the same task, or
    {!unknown}. *)

val without : t -> t list -> t list
(** [without t holders] is the list after [t] has given back the structure. A
    task may give back for another one. In that case, the holders are no longer
    known, unless one task holds all that is left. O(n). *)

val all : count:int -> t list -> Holder.t list
(** [all ~count holders] are the known holders, and unknown ones up to [count].
*)
