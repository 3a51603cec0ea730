(** Waits as a line each, to be compared. *)

val has_line : string -> bool
val without_line : string -> string
val report : Concord.Tools.Debug.report -> string list
val found : Concord_waits.Finder.found -> string list
