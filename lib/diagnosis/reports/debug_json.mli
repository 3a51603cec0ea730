(** Reports as JSON (see {!Concord.Tools.Debug}). *)

val of_report : Debug_report.report -> string
