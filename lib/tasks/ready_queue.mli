(** What several threads take in turns, and the threads sleeping until there is
    something to take. *)

type 'a t

val create : unit -> 'a t

val put : 'a t -> 'a -> unit
(** [put t v] adds [v] at the end, and wakes a sleeping thread, if there is one.
    It never waits for another thread, and any thread may call it.

    It is unbroken, and may add [v] twice. *)

val take : 'a t -> 'a option
(** [take t] removes the first item. *)

val length : 'a t -> int
val take_all : 'a t -> 'a list

val block :
  'a t -> is_over:(unit -> bool) -> unit Concord_suspend.resumer -> unit option
(** [block t ~is_over] is what a thread suspends by. It has to wait unless there
    is something to take, or [is_over ()] is [true]. The last thread to fall
    asleep is woken first, because it may still spin. *)

val wake_all : 'a t -> unit
(** [wake_all t] wakes all sleeping threads. Call it when [is_over] has become
    [true]. *)
