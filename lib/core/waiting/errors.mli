(** The exceptions of the structures. The diagnosis prints them ([Explained]).
*)

exception Closed
(** [Channel], [Stream], [Work_queue], [Mailbox], [Broadcast], [Watch] and
    [Pool] raise it after [close], under their own names. *)

exception Lagged of int
(** [Broadcast.Lagged]. *)

exception Already_filled
(** [Promise.Already_filled]. *)

exception Being_forced
(** [Lazy.Being_forced]. *)

val closed : ('a, exn) result
(** [closed] is [Error Closed], with which waiting tasks are resumed. *)

val raised_by : 'structure -> exn -> unit
(** [raised_by structure e] records that [structure] raises [e]. Call it before
    the exception is raised, unless an operation with a step raises it. *)
