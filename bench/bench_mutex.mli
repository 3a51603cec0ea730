(** Mutexes: free, contended on one domain, and between two. *)

val comparisons : Case.comparison list

val contended_concord :
  Host.t -> yield:(unit -> unit) -> tasks:int -> int -> float
(** Locking, yielding and unlocking, by one of so many tasks. *)

(** {2 For a mutex of a library that is elsewhere} *)

type counter

val side :
  ('mutex -> unit) -> ('mutex -> unit) -> 'mutex -> counter -> int -> unit
(** [side lock unlock mutex shared n] is what one of two sides does [n] times,
    in the case [mutex-work-parallel]. *)

val working : Host.t -> (counter -> int -> unit) -> int -> float
(** [working host side n] is how long two sides took for it together. *)
