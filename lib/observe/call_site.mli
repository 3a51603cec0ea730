(** Lines of the program, from call stacks. *)

val line : Printexc.raw_backtrace -> string
(** The innermost line that is not the library's, as ["server.ml:12"]; [""] if
    there is none, or the program was compiled without [-g].

    {b Cost}: the debugging information is decoded when the call stack is seen
    for the first time. The lines of the last 1,024 call stacks are kept, or of
    fewer if their hashes collide. *)

val decode : Printexc.raw_backtrace -> string
(** The same, which keeps nothing. *)

val max_frames : int
(** As many of a call stack are enough. *)

val here : unit -> string
(** {!line} of the caller. *)
