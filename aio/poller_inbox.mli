(** How other threads, and tasks of the loop's own, reach a loop that polls:
    messages, of which the first one wakes a loop that sleeps. *)

type 'a state =
  | Awake of 'a list  (** These messages are not served; latest first. *)
  | Asleep of int  (** So many wait for the loop, and there is no message. *)

type 'a t

val create : unit -> 'a t
(** - {b Raises} [Unix.Unix_error] if no descriptor is left. *)

val close : 'a t -> unit

(** {2 For any thread} *)

val state : 'a t -> 'a state

val post : 'a t -> 'a -> unit
(** Makes {!bell} readable if the loop has announced that it sleeps, which takes
    a system call. Never waits. A message that is posted twice in a row stands
    once for both. A signal handler may call it. *)

(** {2 For the loop} *)

val take : 'a t -> 'a list
(** The loop is awake, and has these messages; latest first. It takes one step,
    however many other threads post meanwhile, and has no polling point. *)

val announce : 'a t -> waiting:int -> bool
(** The loop is about to sleep, and so many wait for it. [false], and nothing
    has changed, if there is a message. *)

val bell : 'a t -> Unix.file_descr
(** It wakes the loop by becoming readable, until {!listen}. *)

val listen : 'a t -> unit

val renew_bell : 'a t -> unit
(** In a child process, whose bell is the parent's too. *)
