(** For messages, the operation to use instead of one that was refused
    ({!Concord.Tools.Host_kit.refuse}). *)

val refused : unit -> string option
(** [refused ()] is the operation that was refused last, in any thread, for
    example ["Mvar.take"]. It is ["Event.select"] for a choice of several. It is
    [None] for an operation without advice, such as [Condition.wait] and
    [Barrier.await]. *)

val advice : string -> string
(** [advice style] is a sentence for the end of a message. It names that
    operation and the one of the same name in [style]. It may be [""]. *)
