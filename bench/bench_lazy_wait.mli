(** Many tasks that wait for one lazy value. *)

val comparisons : Case.comparison list

(** {2 For the same rows of other libraries} *)

type 'l operations = {
  from_fun : (unit -> int) -> 'l;
  force : 'l -> int;
  waiters : 'l -> int option;
      (** Returns the number of waiters, if the implementation counts them. *)
}

val wait :
  Host.t -> 'l operations -> yield:(unit -> unit) -> tasks:int -> int -> float
(** The operations are divided among several lazy values. This number of tasks
    waits for each value. *)
