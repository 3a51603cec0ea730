(** The conditions of a run. *)

val machine : unit -> string
val effort : Effort.t -> string

val conditions : Effort.t -> string
(** Figures mean nothing without the machine and the effort. *)

val check_writable : string -> unit
(** Checks that the file can be written, before anything is measured. It keeps
    the contents of the file.

    @raise Sys_error if the file cannot be written. *)
