(** Operations on a descriptor: how its owner is found and closed, and what
    waits until a system call need not. *)

type kind =
  | File  (** For which the system does not wait: a worker does. *)
  | Stream  (** Which is non-blocking. *)
  | Shared
      (** Which other processes have too, so that it is not made non-blocking:
          an operation waits until it is ready, and then may block. The three
          that the process began with are. *)

type t = {
  owner : Owner.t;  (** With a reference to it. *)
  kind : kind;
  shut : unit Concord.Promise.t option;
      (** Once it is filled all operations raise [EBADF], also those that wait:
          for one channel of several that share the owner. *)
}

val find : ?shut:unit Concord.Promise.t -> string -> Unix.file_descr -> t
(** {!Owner.find}, and of which kind its object is.

    - {b Suspends} only while another thread closes it. *)

val with_ :
  ?shut:unit Concord.Promise.t -> string -> Unix.file_descr -> (t -> 'a) -> 'a
(** With a reference from {!find}. *)

val with_now : string -> Unix.file_descr -> (t -> 'a) -> 'a
(** The same for what cannot suspend. Non-blocking, also if it is standard. *)

val close_owner : Owner.t -> bool
(** As {!close}; [false] if it was closing. *)

val close : Unix.file_descr -> unit
(** {!Concord_aio.close}. *)

(** {2 Operations} *)

val check : string -> int -> int -> int -> unit
(** [check name length pos len]: are the [len] bytes from [pos] within [length]?

    - {b Raises} [Invalid_argument name] if not. *)

val give_turn : unit -> unit
(** To be called before each operation that may not have to wait: every 128th
    time it is {!Concord.Tasks.yield}, if the host can do that. *)

val using : string -> t -> (unit -> 'a) -> 'a
(** {!Owner.using}. *)

val wait : t -> Poller.direction -> unit
(** {b Suspends} until the descriptor may be ready, or is shut.

    - {b Raises} [Unix.Unix_error] with [EBADF] if its owner is closing. *)

val retry : string -> t -> wait:(unit -> unit) -> (unit -> 'a) -> 'a
(** [retry name t ~wait f] calls the system call [f] until it does not fail with
    [EAGAIN], after which it calls [wait], or [EINTR]. {!give_turn} comes first.
*)

val perform : string -> t -> Poller.direction -> (unit -> 'a) -> 'a
(** [perform name t direction f] calls the system call [f] once that need not
    wait.

    - {b Suspends}, {b Cancelled} as {!read}. *)

val read : t -> bytes -> int -> int -> int
(** {!Concord_aio.read}. *)

val write : t -> bytes -> int -> int -> int
(** {!Concord_aio.single_write}. *)
