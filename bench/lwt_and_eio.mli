(** Lwt's domain and a domain of Eio. One sends the numbers from 1 to [n], and
    the other fails if their sum is wrong. *)

val meeting : int
(** This number of operations is done before the clock is read. *)

val produce : (int -> unit) -> int -> unit
val consume : (unit -> int) -> int -> unit
val produce_lwt : (int -> unit Lwt.t) -> int -> unit Lwt.t
val consume_lwt : (unit -> int Lwt.t) -> int -> unit Lwt.t

val between : eio:(int -> unit) -> lwt:(int -> unit Lwt.t) -> int -> float
(** [between ~eio ~lwt n] is the time in nanoseconds that [lwt n] takes in this
    domain, while [eio n] runs in a fiber of another domain. Both do some
    operations before. *)

val between_with :
  set_up:(Eio.Switch.t -> 'eio * 'lwt) ->
  tear_down:('lwt -> unit Lwt.t) ->
  eio:('eio -> int -> unit) ->
  lwt:('lwt -> int -> unit Lwt.t) ->
  int ->
  float
(** {!between}, with values that both sides have to make first. [set_up] runs in
    the fiber, and [tear_down] in Lwt after the last operation. *)
