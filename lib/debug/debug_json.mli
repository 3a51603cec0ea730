(** Reports as JSON (see {!Concord.Tools.Debug}). *)

val of_report : Concord__diagnosis.Debug_report.report -> string
