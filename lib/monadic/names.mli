(** What to use instead of an operation that was refused
    ({!Concord.Host_kit.refuse}), for messages. *)

val refused : unit -> string list
(** The operation that was refused last, in any thread, as [["Mvar.take"]].
    Several, if they are one to the library, such as [Stream.take] and
    [Mailbox.take]; [["Event.select"]] for a choice of several. [[]] if it has
    no name here: [Condition.wait], [Barrier.await], an operation of another
    library. *)

val advice : string -> string
(** [advice style]: a sentence for the end of a message, which names that
    operation and the one of that name in [style]; or [""]. *)
