(** What the machine can do, measured with nothing but the computation. *)

type t = {
  n : int;  (** The Fibonacci number to ask for. *)
  cost : float;  (** Seconds of one domain that it takes. *)
  capacity : float;
      (** How many of them the machine computes per second, with all its domains
          busy. *)
}

val measure : ?n:int -> domains:int -> unit -> t
(** Without [n], the smallest that takes long enough to be noticed. Takes about
    two seconds. *)
