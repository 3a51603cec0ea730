(** Results for people, in a terminal. *)

val machine : unit -> string
val effort : Effort.t -> string

val conditions : Effort.t -> string
(** Both, and how a value is made: what a figure means nothing without. *)

val comparison : Case.group -> Case.comparison -> Measure.result list -> string
(** A table. The ratio is the median of those of the single repetitions, with
    its quartiles behind it. *)

val offered : float array -> string
(** What follows the title of a comparison whose rows were offered requests at
    these rates: their median and quartiles. Nothing if there are none. *)

val check_writable : string -> unit
(** Finds out before anything is measured; leaves what the file holds.

    @raise Sys_error if the file cannot be written. *)
