(** The owner of a descriptor. Each number that an operation or a channel uses
    has one such object, and only the owner closes the number.

    The owner knows the system calls, jobs of workers and pollers that use the
    descriptor. It gives the number back to the system once it is closing and
    none of these is left. So an operation that began before never uses another
    file under this number. *)

type t

val descr : t -> Unix.file_descr

val find :
  wait:(exn option Concord.Promise.t -> unit) -> string -> Unix.file_descr -> t
(** [find ~wait name fd] is the owner of the number, with one more reference. It
    stays the owner until {!leave}. While [Unix.close] runs, it isn't known
    whether the number already belongs to another file. Then [find] calls
    [wait], and tries again.

    - {b Raises} [Unix.Unix_error] with [EBADF] and that name if it is closing.
*)

val refer : t -> unit
(** Adds a reference, for other code. *)

val leave : t -> unit
(** Removes a reference. *)

val is_closing : t -> bool

(** {2 Users of the descriptor} *)

val using : string -> t -> (unit -> 'a) -> 'a
(** [using name t f] is [f ()]. The number is not given back before [f] ends.

    - {b Raises} [Unix.Unix_error] with [EBADF] and [name] if it is closing. *)

type watcher = { forget : t -> unit }
(** A watcher makes the system wait for descriptors. Any thread calls [forget]
    when an owner that it watches is closing. *)

val watch : t -> watcher -> bool
(** From now on the watcher keeps the number from being given back, if it did
    not already. If the result is [false], the owner is closing, and nothing has
    changed. *)

val unwatch : t -> watcher -> unit
(** The system doesn't wait for that watcher any more. If it does not watch,
    nothing happens. *)

(** {2 The end} *)

val close : t -> exn option Concord.Promise.t option
(** The owner is closing. No operation begins any more, and its watchers are
    called. The result is a promise that is filled, with the exception of
    [Unix.close], if any, once the number was given back. If nothing used it,
    this call gives it back. The result is [None] if it was closing already.
    Users in a process that has forked this one do not count. *)

val abandon : t -> unit
(** Other code has closed the number, which belongs to another file, so it has
    another owner from now on. *)

(** {2 Channels} *)

val channels : t -> int Atomic.t
(** The number of channels that share it, by their own count. *)

(** {2 The object of the kernel} *)

val identity : t -> int Atomic.t
(** The number that its users stored last, or -1 at first. *)
