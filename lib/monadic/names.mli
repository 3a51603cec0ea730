(** What to use instead of an operation that was refused
    ({!Concord.Tools.Host_kit.refuse}), for messages. *)

val refused : unit -> string option
(** The operation that was refused last, in any thread, as ["Mvar.take"];
    ["Event.select"] for a choice of several. [None] if no style has it:
    [Condition.wait], [Barrier.await]. *)

val advice : string -> string
(** [advice style]: a sentence for the end of a message, which names that
    operation and the one of that name in [style]; or [""]. *)
