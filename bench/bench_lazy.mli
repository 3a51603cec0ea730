(** Lazy values: forced already, forced for the first time, and waited for by
    many tasks. *)

val group : Case.group

(** {2 For the same rows of other libraries} *)

type 'l eight = {
  a : 'l;
  b : 'l;
  c : 'l;
  d : 'l;
  e : 'l;
  f : 'l;
  g : 'l;
  h : 'l;
}

val eight : ((unit -> int) -> 'l) -> ('l -> int) -> 'l eight
(** [eight from_fun force] are lazy values that are forced, of the numbers from
    1. *)

val forced_time :
  Host.t -> ('l eight -> int -> int) -> (unit -> 'l eight) -> int -> float
(** [forced_time host read lazies n]: reading so many, where [read l rounds]
    adds up all of [l] in each round. [lazies ()] is called in no task. *)

val first_time : Host.t -> (int -> int) -> int -> float
(** [first_time host first n]: [first n] adds up the numbers from 1 to [n], of
    which each is that of a lazy value that it makes and forces. *)
