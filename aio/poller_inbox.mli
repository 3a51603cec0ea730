(** What other threads, and tasks of the loop's own, have for the loop that
    polls; and whether it sleeps. *)

type 'a state =
  | Awake of 'a list  (** These messages are not served; latest first. *)
  | Asleep of int  (** So many wait for the loop, and there is no message. *)

type 'a t

val create : unit -> 'a t

(** {2 For any thread} *)

val state : 'a t -> 'a state

val post : 'a t -> 'a -> bool
(** [true] if the loop has announced that it sleeps: the caller wakes it. One
    that is posted twice in a row stands once for both. *)

(** {2 For the loop} *)

val take : 'a t -> 'a list
(** The loop is awake, and has these messages; latest first. It takes one step,
    however many other threads post meanwhile, and has no polling point. *)

val announce : 'a t -> waiting:int -> bool
(** The loop is about to sleep, and so many wait for it. [false], and nothing
    has changed, if there is a message. *)
