(** [concord-trace top]: a live view of a running process in a terminal. *)

val run : Recorder.t -> title:string -> stop:(unit -> bool) -> unit
(** [run recorder ~title ~stop] shows what is read from [recorder] until the
    user quits, [stop ()] is [true], or the process has ended. Then it restores
    the terminal, also if it raises.

    - {b Raises} [Failure] if the standard input and output aren't a terminal
      whose size is known, or it has less than 10 rows or 40 columns. *)
