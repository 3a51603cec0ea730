(** A program to be traced, before it runs. *)

val find : string -> string
(** The path of this program, found as a shell does.

    - {b Raises} [Failure] with a message for the user, if there is none. *)

val environment : string -> string array
(** [environment folder] is this process's environment, changed so that a
    program emits its events into [folder]. *)
