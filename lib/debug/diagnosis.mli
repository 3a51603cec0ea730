(** This module installs the observer, in which the folders [observe] and
    [holding] answer the core ({!Observer.install}). *)

val link : unit -> unit
(** Does nothing. A linker leaves a module out of the program if no other module
    refers to it. Each wait goes through {!Operation} or {!Suspend}, so these
    two call [link], and nothing else of the diagnosis. Therefore a program that
    can wait obeys [CONCORD_DEBUG], even if it names nothing of it. *)
