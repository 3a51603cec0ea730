(** Operations on a descriptor for whoever has a reference to its owner, and how
    the owner is found and closed. *)

type kind =
  | File  (** For which the system does not wait: a worker does. *)
  | Stream  (** Which is non-blocking. *)
  | Shared
      (** Which other processes have too, so that it is not made non-blocking:
          an operation waits until it is ready, and then may block. *)

(** {2 Owners} *)

val is_standard : Unix.file_descr -> bool
(** Is it one of the three that the process began with? They are {!Shared}. *)

val find : string -> Unix.file_descr -> Owner.t * kind
(** {!Owner.find}, and of which kind its object is.

    - {b Suspends} only while another thread closes it.
    - {b Raises} [Unix.Unix_error] if it is closed, or closing. *)

val closes : exn option Concord.Promise.t -> unit
(** Waits until it is closed; for {!Owner.find}. *)

val with_owner : string -> Unix.file_descr -> (Owner.t -> kind -> 'a) -> 'a
(** With a reference from {!find}. *)

val with_owner_now : string -> Unix.file_descr -> (Owner.t -> 'a) -> 'a
(** The same for what cannot suspend. Non-blocking, also if it is standard. *)

val close : Owner.t -> bool
(** {!Owner.close}; [false] if it was closing. Returns once the system has
    closed it, unless a worker has a job on it: then the worker closes it.

    - {b Suspends} while the loop or the thread that polls lets go of it. Not
      cancelled.
    - {b Raises} what [Unix.close] raised. *)

(** {2 Operations} *)

val never : unit -> bool

val give_turn : unit -> unit
(** To be called before each operation that may not have to wait: every 128th
    time it is {!Concord.Tasks.yield}, if the host can do that. *)

val perform :
  is_closing:(unit -> bool) ->
  string ->
  Owner.t ->
  kind ->
  Owner.direction ->
  (unit -> 'a) ->
  'a
(** [perform ~is_closing name owner kind direction f] calls the system call [f]
    until that need not wait. Once [is_closing ()] is true it raises [EBADF],
    see {!Readiness.wait}. After some operations that did not have to wait, the
    other tasks have a turn first.

    - {b Suspends}, {b Cancelled} as {!read}. *)

val read :
  is_closing:(unit -> bool) -> Owner.t -> kind -> bytes -> int -> int -> int
(** As [Unix.read].
    - {b Suspends} until there is something to read; or, on a file that is not
      in memory, until a worker has read it.
    - {b Cancelled} while suspended: nothing was read. A file is not cancelled
      once the worker has begun.
    - {b Raises} [Unix.Unix_error] with [EBADF] if it is closing, also
      meanwhile. *)

val write :
  is_closing:(unit -> bool) -> Owner.t -> kind -> bytes -> int -> int -> int
(** As [Unix.single_write]; otherwise as {!read}. *)
