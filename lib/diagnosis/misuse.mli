(** What is told while waits are kept: faults of the program that nothing else
    would tell. *)

val report : string -> unit
(** [report what] writes a line to the standard error, and where the caller is.
    What cannot be written is not reported. Safe in signal handlers. *)

val called : string -> 'structure -> string
(** [called otherwise structure] is the structure's name and place of creation,
    if they are known, else [otherwise]. *)

val place : Printexc.raw_backtrace -> string
(** The frames of the program, or all if there are none, each in a line of its
    own; [""] without frames. *)

val locked_twice : string -> Waits.holder -> 'a
(** The holder locks the mutex again: [Sys_error]. *)

val tell_of_ended : string -> Waits.holder -> unit
(** Its holder has ended, and is what a task waits for now. *)

val told_before : (unit -> unit) -> (unit -> unit) -> unit
(** [told_before tell act] is [tell (); act ()], and calls [act] also if a
    signal handler raises in [tell]. *)
