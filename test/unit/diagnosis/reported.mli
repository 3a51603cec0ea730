(** Finds the waits in the structure of a name in reports. Linking this module
    switches on {!Debug.keep_waits}. *)

open Concord.Tools

val waits_in : string -> Debug.wait -> bool
val all_in : string -> Debug.report -> Debug.wait list
val behind_in : string -> Debug.report -> Debug.wait list
val cycles_in : string -> Debug.report -> Debug.wait list list

val until_there : string -> int -> Debug.report
(** [until_there name n] is the first report in which [n] tasks wait there. *)

val is_over : string -> unit Concord.Mvar.t -> unit
(** Fills this box, so that the task that waits in it continues, and waits until
    it has. *)

val frames_of : Printexc.raw_backtrace -> string list

val start : (unit -> unit) -> unit
(** Starts a thread that isn't joined. *)
