(** Operations on a descriptor. This module finds and closes the descriptor's
    owner, and waits until a system call doesn't have to. *)

type kind =
  | File  (** The system does not wait for it, so a worker does. *)
  | Stream  (** It is non-blocking. *)
  | Shared
      (** Other processes have it too, so it is not made non-blocking. An
          operation waits until it is ready, and then may block. The three
          descriptors that the process began with are shared. *)

type t = {
  owner : Owner.t;  (** With a reference to it. *)
  kind : kind;
  shut : unit Concord.Promise.t option;
      (** Once it is filled all operations raise [EBADF], even those that wait.
          It is for one channel of several that share the owner. *)
}

val find : ?shut:unit Concord.Promise.t -> string -> Unix.file_descr -> t
(** {!Owner.find}, and the kind of its object.

    - {b Suspends} only while another thread closes it. *)

val with_ :
  ?shut:unit Concord.Promise.t -> string -> Unix.file_descr -> (t -> 'a) -> 'a
(** With a reference from {!find}. *)

val with_now : string -> Unix.file_descr -> (t -> 'a) -> 'a
(** {!with_}, for code that cannot suspend. The descriptor is non-blocking, even
    if it is standard. *)

val at_once :
  string ->
  Unix.file_descr ->
  now:(Unix.file_descr -> bytes -> int -> int -> int) ->
  bytes ->
  int ->
  int ->
  (Owner.t option -> int -> int) ->
  int
(** [at_once name fd ~now b pos len rest] calls [now], {!Native.recv_now} or
    {!Native.send_now}, and is [len] if [now] has transferred all bytes.
    Otherwise it is [rest owner n], where [n] is the result of [now], and
    [owner] has a reference meanwhile. If [fd] can't be a socket, [n] is -2. *)

val with_rest :
  ?owner:Owner.t ->
  string ->
  Unix.file_descr ->
  Poller.direction ->
  int ->
  (t -> 'a) ->
  'a
(** {!with_}, for the rest of {!at_once}. If [n] is -1, it waits first. *)

val note_socket : char -> Unix.file_descr -> unit
(** ['s'] says that the number may belong to a socket from now on. *)

val close_owner : Owner.t -> bool
(** {!close}, except that it is [false] if the owner was closing. *)

val close : Unix.file_descr -> unit
(** {!Concord_aio.close}. *)

val owned : string -> Unix.file_descr -> (Unix.file_descr -> 'a) -> 'a
(** [owned name fd f] is [f fd]. Afterwards [fd] is closed, even if [f] raised,
    unless [f] has closed it, or a channel of it. *)

(** {2 Operations} *)

val in_worker : string -> t -> (unit -> 'a) -> 'a
(** [in_worker name t f] is [f ()], in a system thread.

    - {b Cancelled}, it does nothing, or is completed if it has begun. *)

val check : string -> int -> int -> int -> unit
(** [check name length pos len] checks that the [len] bytes from [pos] are
    within [length].

    - {b Raises} [Invalid_argument name] if they are not. *)

val max_bytes : int
(** [Unix] copies at most so many bytes in a call. *)

val give_turn : unit -> unit
(** Call it before each operation that may not have to wait. Every 128th time it
    is {!Concord.Tasks.yield}, if the host can do that. *)

val using : string -> t -> (unit -> 'a) -> 'a
(** {!Owner.using}. *)

val wait : t -> Poller.direction -> unit
(** {b Suspends} until the descriptor may be ready, or is shut. The caller's
    system call has just failed because it would have to wait.

    - {b Raises} [Unix.Unix_error] with [EBADF] if its owner is closing. *)

val retry : string -> t -> wait:(unit -> unit) -> (unit -> 'a) -> 'a
(** [retry name t ~wait f] calls the system call [f] again while it fails with
    [EAGAIN] or [EINTR]. After [EAGAIN] it calls [wait] first. {!give_turn}
    comes before all. *)

val perform : string -> t -> Poller.direction -> (unit -> 'a) -> 'a
(** [perform name t direction f] calls the system call [f] once it need not
    wait.

    - {b Suspends} and is {b cancelled} like {!read}. *)

val read : t -> bytes -> int -> int -> int
(** {!Concord_aio.read}. *)

val write : t -> bytes -> int -> int -> int
(** {!Concord_aio.single_write}. *)

val read_evt : Unix.file_descr -> bytes -> int -> int -> int Concord.Event.t
(** {!Concord_aio.read_evt}. The part must be within the bytes. *)

val write_evt : Unix.file_descr -> bytes -> int -> int -> int Concord.Event.t
(** {!Concord_aio.single_write_evt}, like {!read_evt}. *)

val write_now : t -> bytes -> int -> int -> int
(** {!write}, but 0 if it would have to wait. The part must be within the bytes.
    Never suspends. *)
