(** The wakes that a loop owes: a queue to which any thread posts and which one
    thread, the loop's, serves (H2 to H4 of [Suspend]).

    It is for the loop of a library that knows nothing of other domains. A wake
    is posted together with the decision of H3, so that no exception of a signal
    handler comes between the two. *)

type 'a t
(** Messages of type ['a], in the order of posting. *)

val create : unit -> 'a t

(** {2 For any thread} *)

type posted =
  | Refused  (** It was decided before. Nothing has happened. *)
  | Posted
  | Posted_to_sleeper  (** The caller now wakes the loop. *)

val decide_and_post :
  'a t -> 'b Atomic.t -> before:'b -> after:'b -> 'a -> posted
(** [decide_and_post t decision ~before ~after message] replaces [before] in
    [decision] by [after] and, if that succeeds, posts [message].

    If it raises what a signal handler raises, nothing has happened. Once it has
    decided, there is no polling point until it has returned.
    - {b Cost}: O(1), three atomic operations. It never waits for others. *)

(** {2 For the loop} *)

val is_empty : 'a t -> bool
(** Nothing is there to be served. *)

val serve : 'a t -> ('a -> unit) -> bool
(** [serve t f] calls [f] for the message that came first; [false] if there is
    none. The message leaves the queue when [f] has returned: if it raises, or
    does not return, the next [serve] calls it again, also one in [f] itself. So
    [f] does nothing the second time. *)

val served : 'a t -> int
(** How many messages have left the queue. *)

val fall_asleep : 'a t -> bool
(** Announces that the loop is going to sleep. [false] if there is something to
    be served: then it must not. *)

val wake_up : 'a t -> unit
(** The loop does not sleep any more, and nobody needs to wake it. *)
