(** Waits as a line each, to be compared. *)

val has_line : string -> bool
val without_line : string -> string

val target : string -> string option -> string
(** An operation, and the name of its structure. *)

val whole : string list -> here:string -> string
(** Of targets, and the innermost line of the program. *)

val report : Concord.Tools.Debug.report -> string list
val found : Concord_waits.Finder.found -> string list
