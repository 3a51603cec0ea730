(** Timelines as a picture. *)

val write : string -> Timeline.t list -> unit
(** [write file timelines] writes an SVG.

    @raise Sys_error if [file] cannot be written. *)
