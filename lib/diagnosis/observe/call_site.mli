(** Lines of the program, from call stacks. *)

val line : Printexc.raw_backtrace -> string
(** [line backtrace] is the innermost line that is not the library's, for
    example ["server.ml:12"]. It is [""] if there is none, or the program was
    compiled without [-g].

    {b Cost}: the debugging information is decoded when the call stack is seen
    for the first time. The lines of the last 1,024 call stacks are kept, or of
    fewer if their hashes collide. *)

val decode : Printexc.raw_backtrace -> string
(** {!line}, except that it keeps nothing. *)

val max_frames : int
(** The number of frames of a call stack that are enough. *)

val here : unit -> string
(** [here ()] is the {!line} of the caller. *)
