(** What [CONCORD_DEBUG] asks for when the program starts: [sigquit], [stall],
    and a warning for each word that has no meaning. The other words are read
    where they matter, by {!Debugging}. *)

val link : unit -> unit
(** Does nothing. A linker leaves a module out of the program if no other module
    refers to it. Whatever waits goes through {!Operation} or {!Suspend}, so
    these two call [link], and a program that can wait obeys the variable
    without naming anything of this folder. *)
