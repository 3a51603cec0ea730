(** The owner of a descriptor: one object for each number that an operation or a
    channel uses, which alone closes it.

    The owner knows what is in flight on the descriptor: system calls, jobs of
    workers, and pollers for which the system holds the file. It gives the
    number back to the system once it is closing and nothing of that is left. So
    the number is never another file's for an operation that began before. *)

type t

val descr : t -> Unix.file_descr

val find :
  wait:(exn option Concord.Promise.t -> unit) -> string -> Unix.file_descr -> t
(** [find ~wait name fd] is the owner of the number, which is referred to once
    more, and stays the owner until {!leave}. While [Unix.close] runs nobody
    knows whether the number is already another file's: then it calls [wait],
    and looks again.

    - {b Raises} [Unix.Unix_error] with [EBADF] and that name if it is closing.
*)

val refer : t -> unit
(** One reference more, for somebody else. *)

val leave : t -> unit
(** One reference less. *)

val is_closing : t -> bool

(** {2 What is in flight} *)

val using : string -> t -> (unit -> 'a) -> 'a
(** [using name t f] is [f ()], before whose end the number is not given back.

    - {b Raises} [Unix.Unix_error] with [EBADF] and [name] if it is closing. *)

type watcher = { forget : t -> unit }
(** What has the system wait for descriptors. Any thread calls [forget], when an
    owner that it watches is closing. *)

val watch : t -> watcher -> bool
(** The watcher holds the number back from now on, if it did not yet; not so if
    [false], because it is closing. *)

val unwatch : t -> watcher -> unit
(** The system waits no more for that watcher. Nothing if it does not watch. *)

(** {2 The end} *)

val close : t -> exn option Concord.Promise.t option
(** The owner is closing: no operation begins any more, and its watchers are
    told. Gives the promise that is filled, with what [Unix.close] raised, once
    the number was given back: by this call, if nothing was in flight. [None] if
    it was closing already. What was in flight in a process that has forked this
    one does not count. *)

val abandon : t -> unit
(** The number was closed by others, and is another file's: it has another owner
    from now on. *)

(** {2 Channels} *)

val channels : t -> int Atomic.t
(** How many channels share it, by their own account. *)

(** {2 The kernel's object} *)

val identity : t -> int Atomic.t
(** What its users last said that it is; -1 at first. *)
