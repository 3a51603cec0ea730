(** Which task waits for which, while the program keeps waits ({!Observer}). *)

open Task

val who_is : Task.t -> Who.t

val who : Task.t -> Who.t
(** The same. From now on, the tasks of its scheduler are known to be the
    holders of the promises that their ends fill. These are their [ended], and
    the scopes that wait for them. *)

val target : scope -> Target.t
(** The target in which the task waits that has opened the scope. *)

val sleep :
  scheduler ->
  ((unit Concord_suspend.resumer -> unit option) -> unit) ->
  (unit Concord_suspend.resumer -> unit option) ->
  unit
(** [sleep s suspend block] is [suspend block], by which the loop sleeps. So the
    task that called {!Concord_fifo.run} waits, for the tasks of the loop. *)

val fills : Task.t -> 'a Promise.t -> unit
(** Notes that the task will resolve the promise. *)
