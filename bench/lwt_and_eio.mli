(** Lwt's domain, and one of Eio. The numbers from 1 to [n] are sent, and what
    receives them fails if they have another sum. *)

val meeting : int
(** So many operations are done before the clock is read. *)

val produce : (int -> unit) -> int -> unit
val consume : (unit -> int) -> int -> unit
val produce_lwt : (int -> unit Lwt.t) -> int -> unit Lwt.t
val consume_lwt : (unit -> int Lwt.t) -> int -> unit Lwt.t

val between : eio:(int -> unit) -> lwt:(int -> unit Lwt.t) -> int -> float
(** [between ~eio ~lwt n] is the nanoseconds that [lwt n] takes in this domain,
    while [eio n] runs in a fiber of another. Both do some operations before. *)

val between_with :
  set_up:(Eio.Switch.t -> 'eio * 'lwt) ->
  tear_down:('lwt -> unit Lwt.t) ->
  eio:('eio -> int -> unit) ->
  lwt:('lwt -> int -> unit Lwt.t) ->
  int ->
  float
(** {!between}, for what both have to make first: [set_up] runs in the fiber,
    [tear_down] in Lwt after the last operation. *)
