(** Reports as text for people (see {!Concord.Tools.Debug}). *)

val of_report : Debug_report.report -> string
(** Its length grows with the number of different waits, not with that of tasks.
*)
