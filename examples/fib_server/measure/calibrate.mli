(** What the machine can do, measured with nothing but the computation. *)

type t = {
  n : int;  (** The Fibonacci number to ask for. *)
  cost : float;  (** Seconds of one domain that it takes. *)
}

val measure : ?n:int -> enough:float -> unit -> t
(** Without [n], the smallest number that takes one domain [enough] seconds.
    That should be much more than what a busy system takes to give a waking
    process its turn, or the latter would blur the picture. *)

val capacity : n:int -> domains:int -> seconds:float -> float
(** How many such numbers the machine computes per second at this time, with
    that many domains busy: the median of as many measurements as [seconds]
    allow, and of three at least. What else runs on the machine, or beside it if
    it is a virtual one, changes the answer from minute to minute: ask when it
    is needed, and do not keep it. *)
