(** Operations of [Unix] on descriptors, in direct style. *)

open Unix

(** {2 Reading and writing} *)

val read : file_descr -> bytes -> int -> int -> int
(** [read] is [Unix.read]. *)

val write : file_descr -> bytes -> int -> int -> int
(** [write] is [Unix.write], and writes everything. If it is {b cancelled}, or
    fails, the first part may have been written. *)

val single_write : file_descr -> bytes -> int -> int -> int
(** [single_write] is [Unix.single_write], which may write a part. *)

val write_substring : file_descr -> string -> int -> int -> int
(** [write_substring] is {!write}, of a string. *)

val single_write_substring : file_descr -> string -> int -> int -> int
(** [single_write_substring] is {!single_write}, of a string. *)

val read_evt : file_descr -> bytes -> int -> int -> int Concord.Event.t
(** [read_evt] is {!read} as an event, for example for a time limit by
    [Event.sync_before]. If another alternative is taken, or the task is
    cancelled, nothing was read. It never calls {!Concord.Tasks.yield}, and
    reads a regular file at once, in the calling thread.

    - {b Raises} [Invalid_argument] at once if the bytes don't have this range.
*)

val single_write_evt : file_descr -> bytes -> int -> int -> int Concord.Event.t
(** [single_write_evt] is {!single_write} as an event, like {!read_evt}. *)

val single_write_substring_evt :
  file_descr -> string -> int -> int -> int Concord.Event.t
(** [single_write_substring_evt] is {!single_write_evt}, of a string. *)

(** {2 Sockets} *)

val recv : file_descr -> bytes -> int -> int -> msg_flag list -> int
(** [recv] is [Unix.recv]. *)

val send : file_descr -> bytes -> int -> int -> msg_flag list -> int
(** [send] is [Unix.send]. *)

val send_substring : file_descr -> string -> int -> int -> msg_flag list -> int
(** [send_substring] is {!send}, of a string. *)

val recvfrom :
  file_descr -> bytes -> int -> int -> msg_flag list -> int * sockaddr
(** [recvfrom] is [Unix.recvfrom]. *)

val sendto :
  file_descr -> bytes -> int -> int -> msg_flag list -> sockaddr -> int
(** [sendto] is [Unix.sendto]. *)

val send_descrs : file_descr -> file_descr list -> bytes -> int -> int -> int
(** [send_descrs socket descrs b pos len] is {!send} to a socket of the Unix
    domain, with 1 to 253 descriptors. The receiver, perhaps another process,
    gets copies of them. So you may close yours afterwards.

    - {b Raises} [Invalid_argument] if [len] is 0, because a stream carries
      descriptors only with a byte, if there are no or more descriptors, or if
      the part isn't in [b]. *)

val recv_descrs : file_descr -> bytes -> int -> int -> int * file_descr list
(** [recv_descrs socket b pos len] is {!recv}, with the descriptors that came
    with these bytes. They are close-on-exec, and are yours to close. ({!recv}
    and {!read} lose them.)

    {[
      # open Concord_aio
      # run (fun () ->
          let a, b = Unix.(socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0) in
          let from, to_ = Unix.pipe ~cloexec:true () in
          let byte = Bytes.make 1 '!' in
          ignore (send_descrs a [ from ] byte 0 1 : int);
          close from;
          ignore (write_substring to_ "hello" 0 5 : int);
          match recv_descrs b byte 0 1 with
          | 1, [ from ] ->
              let text = Bytes.create 5 in
              let n = read from text 0 5 in
              List.iter close [ a; b; from; to_ ];
              Bytes.sub_string text 0 n
          | _ -> "no descriptor")
      - : string = "hello"
    ]}

    - {b Raises} [Unix.Unix_error] with [EMFILE] if there was no room for all
      descriptors. Those that came are closed, and the bytes are lost. *)

val copy : ?at:int -> ?len:int -> file_descr -> file_descr -> int
(** [copy from to_] writes to [to_] what it reads from [from] until its end, or
    up to [len] bytes, and is the number of bytes. It begins at the position
    [at] of the file, or else at the current position, which it moves.

    From a regular file to a socket, pipe or file, Linux copies by [sendfile],
    without a buffer in your program. Otherwise, and on other systems, a buffer
    of 64 kB is read and written.

    - {b Suspends} until [to_] has room, and while a system thread reads from
      the file or writes to one, unless it is in memory.
    - {b Cancelled}, or if it fails, a part may have been copied. If the system
      is copying at that moment, that part (up to 1 MiB) is completed first.
    - {b Cost}: a system call for each 128 kB, or as much as [to_] has room for.
      A thread's job copies up to 1 MiB. A large file took 0.4 (0.2 to 0.7) of
      the processor time of {!read} and {!write}.
    - {b Raises} [Invalid_argument] if [at] or [len] is negative. *)

val accept : ?cloexec:bool -> file_descr -> file_descr * sockaddr
(** [accept] is [Unix.accept], but close-on-exec unless you ask for something
    else. If a peer has gone before its connection was accepted, the connection
    is skipped.

    - {b Raises} [Unix.Unix_error] with [EMFILE] if no descriptor is left. The
      connection still waits. *)

val accept_evt :
  ?cloexec:bool -> file_descr -> (file_descr * sockaddr) Concord.Event.t
(** [accept_evt] is {!accept} as an event. If another alternative is taken, or
    the task is cancelled, no connection was accepted. *)

val connect : file_descr -> sockaddr -> unit
(** [connect] is [Unix.connect]. If it is {b cancelled}, the connection may be
    made nevertheless, so close the socket. *)

(** {2 Opening and closing} *)

val close : file_descr -> unit
(** [close] is [Unix.close], and wakes the tasks waiting for the descriptor.

    They get [Unix_error (EBADF, _, _)], whatever their host, and so do the
    channels of the descriptor. ([Unix.close] would let them wait, perhaps
    forever.) When [close] returns, the system has closed the descriptor, so for
    example its port is free. However, if a thread is reading or writing a file,
    the file is closed when the thread has finished.

    - {b Suspends} for some microseconds, while a loop polling in another thread
      releases the descriptor. If the caller can't be suspended, it returns at
      once, and the loop closes the descriptor. It does so in a callback, in a
      signal handler that has interrupted the loop, and in a cancelled Eio fiber
      without [concord-eio].
    - {b Suspends} also while another thread still closes an earlier file with
      the same number. If the caller can't be suspended, its thread is blocked
      instead.
    - {b Cancelled} never, even if the task was cancelled before.
    - {b Raises} [Unix_error] with [EBADF] if it is closed, or being closed. *)

val openfile : string -> open_flag list -> file_perm -> file_descr
(** [openfile] is [Unix.openfile], and close-on-exec.

    If it is {b cancelled}, it raises at once. If the file is opened
    nevertheless, it is closed. *)

val with_file :
  string -> open_flag list -> file_perm -> (file_descr -> 'a) -> 'a
(** [with_file name flags perm f] is [f (openfile name flags perm)].

    It closes the descriptor afterwards, even if [f] raised. [f] may close it
    before, or make channels of it, whose end closes it. Then it isn't closed
    again. *)

(** {2 Names of hosts, and time} *)

val getaddrinfo : string -> string -> getaddrinfo_option list -> addr_info list
(** [getaddrinfo] is [Unix.getaddrinfo], in a system thread. If it is
    {b cancelled}, it raises at once, and its answer is dropped. *)

val getnameinfo : sockaddr -> getnameinfo_option list -> name_info
(** [getnameinfo] is [Unix.getnameinfo], like {!getaddrinfo}. *)

val sleep : int -> unit
(** [sleep] is [Unix.sleep] (see [Concord.Event.timeout]). *)

val sleepf : float -> unit
(** [sleepf] is [Unix.sleepf]. *)
