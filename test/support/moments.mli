(** Signal handlers that raise at a chosen moment, the [n]th place where OCaml
    runs them. *)

exception Interrupt

val at : ?second:int -> int -> (unit -> 'a) -> ('a, exn) result
(** [at n f] calls [f] in the main thread, where a handler raises {!Interrupt}
    at the [n]th moment at which a handler may run. Such a moment is an
    allocation or a poll. The first one comes before [f].

    At each moment it sends another signal, so that the handler runs again at
    the next one. All other threads and domains have to block {!signal}. *)

val was_raised : unit -> bool

val was_raised_twice : unit -> bool
(** Whether the handler raised in the last {!at}. [f] may still have returned.
*)

val signal : int

val unwatched : (unit -> 'a) -> 'a
(** [unwatched f] is [f ()], in which no moments are counted. Use it for code of
    the test that runs inside [f] above. *)
