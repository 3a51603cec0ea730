(** Operations of [Unix] on descriptors, in direct style. *)

open Unix

val read : file_descr -> bytes -> int -> int -> int
(** As [Unix.read]. *)

val write : file_descr -> bytes -> int -> int -> int
(** As [Unix.write]: all of it. {b Cancelled}, or on an error, the first part
    may have been written. *)

val single_write : file_descr -> bytes -> int -> int -> int
val write_substring : file_descr -> string -> int -> int -> int
val single_write_substring : file_descr -> string -> int -> int -> int
val recv : file_descr -> bytes -> int -> int -> msg_flag list -> int
val send : file_descr -> bytes -> int -> int -> msg_flag list -> int
val send_substring : file_descr -> string -> int -> int -> msg_flag list -> int

val recvfrom :
  file_descr -> bytes -> int -> int -> msg_flag list -> int * sockaddr

val sendto :
  file_descr -> bytes -> int -> int -> msg_flag list -> sockaddr -> int

val accept : ?cloexec:bool -> file_descr -> file_descr * sockaddr
(** As [Unix.accept], but close-on-exec unless told otherwise. A connection
    whose peer is gone before it was accepted is passed over.

    - {b Raises} [Unix.Unix_error] with [EMFILE] if no descriptor is left: the
      connection still waits. *)

val accept_evt :
  ?cloexec:bool -> file_descr -> (file_descr * sockaddr) Concord.Event.t
(** {!accept} as an event: if another alternative is taken, or the task is
    cancelled, no connection was accepted. *)

val connect : file_descr -> sockaddr -> unit
(** As [Unix.connect]. {b Cancelled}: the connection may be made nevertheless;
    close the socket. *)

val close : file_descr -> unit
(** As [Unix.close]. A task that waits for the descriptor gets
    [Unix_error (EBADF, _, _)], whatever its host, and so do the channels of the
    descriptor. ([Unix.close] would let them wait, perhaps for ever.) When
    [close] returns, the system has closed it, and a port, say, is free; but if
    a thread is reading or writing a file it is closed when that has ended.

    - {b Suspends} while a loop that polls in another thread lets go of the
      descriptor, some microseconds. Not cancelled. In a signal handler that has
      interrupted the loop, or in a callback in which nothing can be suspended,
      it returns at once, and the loop closes it.
    - {b Raises} [Unix_error] with [EBADF] if it is closed, or being closed. *)

val openfile : string -> open_flag list -> file_perm -> file_descr
(** As [Unix.openfile], and close-on-exec. {b Cancelled}: at once; what is
    opened nevertheless is closed. *)

val with_file :
  string -> open_flag list -> file_perm -> (file_descr -> 'a) -> 'a
(** [with_file name flags perm f] is [f (openfile name flags perm)]; then, also
    if [f] raised, the descriptor is closed. [f] does not close it. *)

val getaddrinfo : string -> string -> getaddrinfo_option list -> addr_info list
(** As [Unix.getaddrinfo], by a system thread. {b Cancelled}: at once; its
    answer is dropped. *)

val getnameinfo : sockaddr -> getnameinfo_option list -> name_info
(** As {!getaddrinfo}. *)

val sleep : int -> unit
(** As [Unix.sleep]; see [Concord.Event.timeout]. *)

val sleepf : float -> unit
(** As [Unix.sleepf]. *)
