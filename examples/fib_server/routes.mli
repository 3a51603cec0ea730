(** The answers of the service. *)

open Http_message

val handle :
  max_n:int -> fib:(int -> int) -> Http.Request.t -> string -> Message.answer
(** The answer to [GET /fib/N] is the Nth Fibonacci number, computed by [fib],
    for N from 0 to [max_n]. The answer to [GET /ping] is [pong]. The header
    {!timing} tells when a request was handled. *)

val timing : string
(** The name of a header. Its value is two numbers, the times at which the
    handler of the request was called and returned. They are in nanoseconds of
    the system's monotonic clock. If the intervals of two requests overlap, both
    were in progress at the same time. *)
