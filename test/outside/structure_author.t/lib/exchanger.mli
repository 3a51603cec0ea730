(** Two tasks meet, and each gets the other's value. *)

type 'a t

val create : unit -> 'a t

val exchange : 'a t -> 'a -> 'a
(** [exchange t v] waits for another task that exchanges, and gives it [v]. The result is the
    other task's value. A task that is cancelled while it waits has given nothing. *)

val exchange_evt : 'a t -> 'a -> 'a Concord.Event.t
(** The event of {!exchange}. Two alternatives of one choice don't meet each other. *)

val waiters : 'a t -> int
