(** Cancelling one of many tasks that wait in the same structure. *)

val comparisons : Case.comparison list

(** {2 For the same rows of other libraries} *)

type wait = {
  hold : unit -> unit;  (** Makes the others wait. *)
  wait : unit -> unit;  (** Each task of the crowd calls it. *)
  until_cancelled : unit -> unit;
  wake : unit -> unit;  (** Lets all tasks of the crowd continue. *)
}

val in_crowd :
  Host.t ->
  (((unit -> unit) -> unit) -> (unit -> unit) -> unit) ->
  wait ->
  tasks:int ->
  int ->
  float
(** [in_crowd host one_more wait]. [one_more fork f] runs [f] in a new task,
    which waits. Then it cancels the task and waits for its end. *)

val mutexes : int list
(** The sizes of the crowds in the cases [mutex-cancel-N]. *)

val promises : int list

(** {2 For the growth} *)

val among_waiters : tasks:int -> int -> float
(** One more task waits for a mutex and is cancelled, on Fifo. *)
