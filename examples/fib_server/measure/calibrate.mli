(** What the machine can do, measured with nothing but the computation. *)

type t = {
  n : int;  (** The Fibonacci number to ask for. *)
  cost : float;  (** Seconds of one domain that it takes. *)
  capacity : float;
      (** How many of them the machine computes per second, with all its domains
          busy. *)
}

val measure : ?n:int -> enough:float -> domains:int -> unit -> t
(** Without [n], the smallest number that takes one domain [enough] seconds.
    That should be much more than what a busy system takes to give a waking
    process its turn, or the latter would blur the picture. The measurement
    takes about two seconds. *)
