(** For messages, the operation to use instead of one that was refused
    ({!Concord.Tools.Host_kit.refuse}). *)

val advice : string -> string
(** [advice style] is a sentence for the end of a message. It names the
    operation that was refused last, in any thread, and the operation to use
    instead:

    - the one of the same name in [style], for a structure of this library,
      except for an event;
    - [select] of [style], for a choice of several events;
    - [sync] of [style], for another operation, such as [Event.timeout] or that
      of a structure that is not in this library.

    If the program has called something else, and that has to wait in the
    operation, the sentence names the outermost call, with its line. This may be
    a function of another library, or one like [Blocking.run].

    It is [""] if no operation was refused, or if the operation has no name. *)
