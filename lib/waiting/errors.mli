(** The exceptions of the structures. Their printers name the structure that
    raised them last in the calling thread, if that has a name or was made while
    waits are kept. So does that of [Stdlib.Lazy.Undefined]. *)

exception Closed
(** What {!Channel}, {!Stream}, {!Work_queue}, {!Mailbox}, {!Broadcast},
    {!Watch} and {!Pool} raise, under their own names, after [close]. *)

exception Lagged of int
(** {!Broadcast.Lagged}. *)

exception Already_filled
(** {!Promise.Already_filled}. *)

exception Being_forced
(** {!Lazy.Being_forced}. *)

val closed : ('a, exn) result
(** What tasks that wait are resumed with: [Error Closed]. *)

val raised_by : 'structure -> exn -> unit
(** To be called before the structure raises the exception, where that is not an
    operation that has a step. *)
