(** How other threads, and tasks of the loop's own, reach a loop that polls.
    They send messages, and the first message wakes a loop that sleeps. *)

type 'a state =
  | Awake of 'a list  (** The messages that are not served, latest first. *)
  | Asleep of int
      (** The number that wait for the loop. There is no message. *)

type 'a t

val create : unit -> 'a t
(** - {b Raises} [Unix.Unix_error] if no descriptor is left. *)

val close : 'a t -> unit

(** {2 For any thread} *)

val state : 'a t -> 'a state

val post : 'a t -> 'a -> unit
(** Makes {!bell} readable if the loop has announced that it sleeps, which takes
    a system call. Never waits. If a message is posted twice in a row, it is
    served once. A signal handler may call it. *)

(** {2 For the loop} *)

val take : 'a t -> 'a list
(** The loop is awake, and has these messages, latest first. It takes one step,
    however many other threads post meanwhile, and has no polling point. *)

val announce : 'a t -> waiting:int -> bool
(** The loop is about to sleep, and [waiting] tasks wait for it. If there is a
    message, it is [false], and nothing has changed. *)

val bell : 'a t -> Unix.file_descr
(** It wakes the loop by becoming readable, until {!listen}. *)

val listen : 'a t -> unit

val renew_bell : 'a t -> unit
(** In a child process, whose bell is the parent's too. *)
