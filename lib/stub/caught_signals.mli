(** Signals that have come. A handler in C counts them, which runs even if no
    thread runs OCaml code.

    A caught signal wakes the thread that reads from a pipe. If nothing in the
    program waits for a signal, it is passed on to the disposition that the
    program had before.

    These functions neither allocate nor release OCaml's lock, except to open
    the pipe. On Windows all of them fail. *)

type number = private int
(** The system's number of a signal. *)

val number : int -> number option
(** [number signal] is the number of a signal of [Sys], or of a system's number.
    It is [None] if a program cannot wait for it. *)

val named : number -> int
(** The signal's number in [Sys], if it has one. *)

val name : int -> string
(** ["SIGTERM"], for reports. The number is that of [Sys] or the system's. If it
    has no name, it is ["signal 64"]. *)

val name_and_number : int -> string
(** ["SIGKILL (-7)"], for messages about the argument of a function. *)

type since
(** The number of signals that had come. *)

val catch : Unix.file_descr -> number -> every:bool -> since option
(** [catch pipe number ~every] makes the handler count the next such signal, or
    every one, and write a byte to [pipe]. All calls in a process have the same
    pipe, which does not block and is not closed. It is [None] if the system
    refuses. *)

val release : number -> since -> every:bool -> unit
(** Undoes one [catch], even if its signal has come. After the last one, the
    disposition is the same as before, unless the program has set another one
    meanwhile. It does nothing in another process than [catch]. *)

val come : number -> since:since -> int
(** The number of signals that have come since then. *)
