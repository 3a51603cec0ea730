(** What the service answers to which request. *)

open Http_service

val handle : max_n:int -> fib:(int -> int) -> Http.Request.t -> Message.answer
(** [GET /fib/N] is answered with the Nth Fibonacci number, as [fib] computes
    it, for N from 0 to [max_n]; [GET /ping] with [pong]. The header {!timing}
    tells when a request was handled. *)

val timing : string
(** The name of the header whose value is two numbers: when the handler of the
    request was called and when it returned, in nanoseconds of the system's
    monotonic clock. Two requests whose intervals overlap were in progress at
    the same time. *)
