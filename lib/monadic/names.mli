(** What to use instead of an operation that was refused
    ({!Concord.Host_kit.refuse}), for messages. *)

val refused : unit -> string list
(** The operation that was refused last, in any thread, as [["Mvar.take"]].
    Several, if they are one to the library, such as [Stream.take] and
    [Mailbox.take]; [["Event.select"]] for a choice of several. [[]] if no style
    has it: [Condition.wait], [Barrier.await], an operation of another library.
*)

val operation : kind:string option -> Waits.place -> string
(** The name of the operation on a structure of this kind, or several if they
    are one to the library and the kind does not tell which. [""] for an
    operation of another library. *)

val of_place : Waits.place -> string
(** The same by the structure's label, and what that says of the structure. O(n)
    for n labels. *)

val advice : string -> string
(** [advice style]: a sentence for the end of a message, which names that
    operation and the one of that name in [style]; or [""]. *)
