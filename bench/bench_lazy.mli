(** Lazy values that are forced already, are forced for the first time, or that
    many tasks wait for. *)

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
(** [eight from_fun force] are forced lazy values of the numbers from 1 to 8. *)

val forced_time :
  Host.t -> ('l eight -> int -> int) -> (unit -> 'l eight) -> int -> float
(** [forced_time host read lazies n] is the time of reading [n] values.
    [read l rounds] adds up all of [l] in each round. [lazies ()] is called
    outside tasks. *)

val first_time : Host.t -> (int -> int) -> int -> float
(** [first_time host first n] is the time of [first n], which makes and forces a
    lazy value for each number from 1 to [n], and adds up the numbers. *)
