(** Which signals have come? They are counted by a handler in C, which runs even
    if no thread runs OCaml code.

    A caught signal wakes whoever reads from a pipe. One that nobody waits for
    is passed on to the disposition that the program had before.

    None of this allocates or releases OCaml's lock, except to open the pipe. On
    Windows all of it fails. *)

type number = private int
(** The system's number of a signal. *)

val number : int -> number option
(** That of a signal of [Sys], or of a system's number. [None] if a program
    cannot wait for it. *)

val named : number -> int
(** The signal as [Sys] has it, if it does. *)

val name : number -> string
(** ["SIGTERM"], for reports. *)

type since
(** How many signals of a number had come. *)

val catch : Unix.file_descr -> number -> every:bool -> since option
(** [catch pipe number ~every]: the next such signal, or every one, is counted,
    and writes a byte to [pipe]. All calls in a process have the same pipe,
    which does not block and is not closed. [None] if the system refuses. *)

val release : number -> since -> every:bool -> unit
(** Undoes one [catch], also if its signal has come. After the last one, the
    disposition is what it was before; unless the program has set another one
    meanwhile. It does nothing in another process than [catch]. *)

val come : number -> since:since -> int
(** How many have come since then. *)
