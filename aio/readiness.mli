(** Descriptors that become ready, as events, and who polls for them. *)

val wait : ?unless:unit Concord.Promise.t -> Owner.t -> Poller.direction -> unit
(** Suspends the calling task until the descriptor may be ready, or the promise
    is filled. It has a reference to the owner.

    - {b Raises} [Unix.Unix_error] with [EBADF] if the owner is closing. *)

val evt : Unix.file_descr -> Poller.direction -> unit Concord.Event.t

val tentative_evt :
  Unix.file_descr ->
  Poller.direction ->
  (unit -> 'a option) ->
  'a Concord.Event.t
(** [tentative_evt fd direction f] waits for [fd] as often as [f ()] is [None],
    and gives what [f] gives. [f] does not wait. *)

val await_closed : exn option Concord.Promise.t -> unit
(** Waits until what {!Owner.close} gave is filled; not so in a signal handler
    that interrupts a poll. {b Suspends} without being cancelled. *)

val run : (unit -> 'a) -> 'a
(** {!Concord_aio.run}. *)

val has_thread : unit -> bool
(** Whether a thread was started to poll, in this process. *)

val waiting : unit -> int
(** {!Poller.waiting}, of all pollers. For tests: it has the thread look. *)
