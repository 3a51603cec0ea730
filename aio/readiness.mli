(** Descriptors that become ready, as events, and who polls for them. *)

val wait :
  ?is_closing:(unit -> bool) -> Unix.file_descr -> Poller.direction -> unit
(** Suspends the calling task until the descriptor may be ready.

    - {b Raises} [Unix.Unix_error] with [EBADF] if {!forget} is called
      meanwhile; or was called before, by a thread that had made [is_closing ()]
      true. *)

val evt : Unix.file_descr -> Poller.direction -> unit Concord.Event.t

val tentative_evt :
  Unix.file_descr ->
  Poller.direction ->
  (unit -> 'a option) ->
  'a Concord.Event.t
(** [tentative_evt fd direction f] waits for [fd] as often as [f ()] is [None],
    and gives what [f] gives. [f] does not wait. *)

val forget : Unix.file_descr -> unit
(** The descriptor is about to be closed. See {!Poller.forget}. *)

val run : (unit -> 'a) -> 'a
(** {!Concord_aio.run}. *)

val has_thread : unit -> bool
(** Whether a thread was started to poll, in this process. *)

val waiting : unit -> int
(** {!Poller.waiting}, of all pollers. For tests: it has the thread look. *)
