(** The speed of the machine, measured while it does nothing but the
    computation. *)

type t = {
  n : int;  (** The Fibonacci number to request. *)
  cost : float;  (** The seconds that it takes in one domain. *)
}

val measure : ?n:int -> enough:float -> unit -> t
(** Without [n], this is the smallest number that takes one domain [enough]
    seconds. [enough] should be much longer than a busy system takes to wake a
    process, because otherwise that time would blur the results. *)

val capacity : n:int -> domains:int -> seconds:float -> float
(** The number of such computations per second at this time, on so many busy
    domains. It is the median of as many measurements as fit into [seconds], and
    at least three. Other programs on the machine, or beside a virtual machine,
    change it from minute to minute. So measure it when you need it, and don't
    keep it. *)
