(** Results for people and for programs. *)

val conditions : Measure.effort -> string
(** The machine, the compiler and how a value is made: what a figure means
    nothing without. *)

val comparison : Case.group -> Case.comparison -> Measure.result list -> string
(** A table. The ratio is the median of those of the single repetitions, with
    its quartiles behind it. *)

val write_json : string -> (Case.group * Measure.result list) list -> unit
(** Writes a list of objects, each with [group], [case], [impl], [host], [unit],
    [value] (the median), and [spread] (between the quartiles, as a fraction of
    the median).

    @raise Sys_error if the file cannot be written. *)

val check_writable : string -> unit
(** Finds out before anything is measured; leaves what the file holds.

    @raise Sys_error if the file cannot be written. *)
