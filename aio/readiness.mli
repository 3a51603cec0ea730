(** Descriptors that become ready, as events, with the pollers that serve them.
*)

val wait :
  ?unless:unit Concord.Promise.t ->
  tried:bool ->
  Owner.t ->
  Poller.direction ->
  unit
(** Suspends the calling task until the descriptor may be ready, or the promise
    is filled. It has a reference to the owner. With [~tried:true], the caller's
    system call has just found that it would have to wait, so the system isn't
    asked again before the task suspends. With [~tried:false], the descriptor
    was ready just before [wait] returns.

    - {b Raises} [Unix.Unix_error] with [EBADF] if the owner is closing. *)

val look : Unix.file_descr -> Poller.direction -> bool
(** Whether it can be read, or written to, without waiting. *)

val is_writable : Unix.file_descr -> bool
(** [true] if a write would not wait now. *)

val is_connected : Unix.file_descr -> bool
(** [false] while the attempt to connect the socket is in progress.

    - {b Raises} [Unix.Unix_error] if it has failed. *)

val evt : Unix.file_descr -> Poller.direction -> unit Concord.Event.t

val tentative_evt :
  Unix.file_descr ->
  Poller.direction ->
  (unit -> 'a option) ->
  'a Concord.Event.t
(** [tentative_evt fd direction f] waits for [fd] as long as [f ()] is [None],
    and returns the value of [f]. [f] does not wait. *)

val await_closed : exn option Concord.Promise.t -> unit
(** {!Uncancelled.attempt}, of the promise of {!Owner.close}. In a signal
    handler that interrupts a poll it does nothing. *)

val run : (unit -> 'a) -> 'a
(** {!Concord_aio.run}. *)

val has_thread : unit -> bool
(** [true] if a thread was started to poll, in this process. *)

val waiting : unit -> int
(** {!Poller.waiting}, of all pollers. For tests, because it makes the thread
    check. *)
