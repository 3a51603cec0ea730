(** Who waits for whom, as JSON: see {!Concord.Tools.Debug}. *)

val of_report : Debug_report.t -> string
