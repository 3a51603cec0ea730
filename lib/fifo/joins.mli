(** Which task is waited for by which, while the program keeps waits ({!Waits}).
*)

open Task

val who_is : Task.t -> Who.t

val who : Task.t -> Who.t
(** The same. From now on, the tasks of its scheduler are known to be the
    holders of what ends with them: of their [ended], and of the scopes that
    wait for them. *)

val target : scope -> Waits.target
(** Where the task waits that has opened the scope. *)

val sleep :
  scheduler ->
  ((unit Suspend.resumer -> unit option) -> unit) ->
  (unit Suspend.resumer -> unit option) ->
  unit
(** [sleep s suspend block] is [suspend block], by which the loop sleeps: so the
    task waits that called {!Concord_fifo.run}, for the tasks of the loop. *)

val fills : Task.t -> 'a Promise.t -> unit
(** The task is to resolve the promise. *)
