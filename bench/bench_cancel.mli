(** Cancelling one of many tasks that wait for the same. *)

val comparisons : Case.comparison list

(** {2 For the same rows of other libraries} *)

type wait = {
  hold : unit -> unit;  (** What makes the others wait. *)
  wait : unit -> unit;  (** What each of the crowd does. *)
  until_cancelled : unit -> unit;
  wake : unit -> unit;  (** Makes all of the crowd go on. *)
}

val in_crowd :
  Host.t ->
  (((unit -> unit) -> unit) -> (unit -> unit) -> unit) ->
  wait ->
  tasks:int ->
  int ->
  float
(** [in_crowd host one_more wait]: [one_more fork f] runs [f] in a new task,
    which waits, cancels it and waits for its end. *)

val mutexes : int list
(** Among so many they have the case [mutex-cancel-N]. *)

val promises : int list

(** {2 For the growth} *)

val among_waiters : tasks:int -> int -> float
(** One more that waits for a mutex, and is cancelled; on Fifo. *)
