(** Many tasks that wait for one lazy value. *)

val comparisons : Case.comparison list

(** {2 For the same rows of other libraries} *)

type 'l operations = {
  from_fun : (unit -> int) -> 'l;
  force : 'l -> int;
  waiters : 'l -> int option;  (** If it can tell. *)
}

val wait :
  Host.t -> 'l operations -> yield:(unit -> unit) -> tasks:int -> int -> float
(** So many tasks wait for each of the lazy values that the operations are
    divided into. *)
