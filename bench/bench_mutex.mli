(** Mutexes that are free, contended on one domain, or contended between two
    domains. *)

val comparisons : Case.comparison list

val contended_concord :
  Host.t -> yield:(unit -> unit) -> tasks:int -> int -> float
(** One of so many tasks locks the mutex, yields and unlocks it. *)

(** {2 For a mutex of a library in another program} *)

type counter

val side :
  ('mutex -> unit) -> ('mutex -> unit) -> 'mutex -> counter -> int -> unit
(** [side lock unlock mutex shared n] is one of the two sides in the case
    [mutex-work-parallel], with [n] rounds. *)

val working : Host.t -> (counter -> int -> unit) -> int -> float
(** [working host side n] is the time that both sides took together. *)
