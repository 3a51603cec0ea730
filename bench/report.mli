(** In which conditions a run measures. *)

val machine : unit -> string
val effort : Effort.t -> string

val conditions : Effort.t -> string
(** Both: what a figure means nothing without. *)

val check_writable : string -> unit
(** Finds out before anything is measured; leaves what the file holds.

    @raise Sys_error if the file cannot be written. *)
