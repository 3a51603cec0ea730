(** Two tasks meet, and each gets what the other one has. *)

type 'a t

val create : unit -> 'a t

val exchange : 'a t -> 'a -> 'a
(** [exchange t v] waits for another task that exchanges, gives it [v], and is
    what that gives. A task that is cancelled while it waits has given nothing.
*)

val exchange_evt : 'a t -> 'a -> 'a Concord.Event.t
(** Its event. Two alternatives of one choice do not meet each other. *)

val waiters : 'a t -> int
