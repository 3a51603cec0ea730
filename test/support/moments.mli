(** Signal handlers that raise at a chosen moment: at the [n]th place where
    OCaml runs them. *)

exception Interrupt

val at : ?second:int -> int -> (unit -> 'a) -> ('a, exn) result
(** [at n f] calls [f] in the main thread, where a handler raises {!Interrupt}
    at the [n]th moment at which a handler may run: an allocation, or a poll.
    The first one comes before [f].

    It lets a signal come at each moment, so that the next handler runs at the
    next one. All other threads and domains have to block {!signal}. *)

val was_raised : unit -> bool

val was_raised_twice : unit -> bool
(** Did the handler raise in the last {!at}? [f] may have returned all the same.
*)

val signal : int

val unwatched : (unit -> 'a) -> 'a
(** [unwatched f] is [f ()], in which no moments are counted: for the code of
    the test that runs inside of [f] above. *)
