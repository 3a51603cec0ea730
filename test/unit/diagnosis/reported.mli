(** Reports, and what they say of the waits in one structure, by its name. To
    link this has waits kept. *)

open Concord.Tools

val waits_in : string -> Debug.wait -> bool
val all_in : string -> Debug.report -> Debug.wait list
val behind_in : string -> Debug.report -> Debug.wait list
val cycles_in : string -> Debug.report -> Debug.wait list list

val until_there : string -> int -> Debug.report
(** The report in which so many wait there. *)

val is_over : string -> unit Concord.Mvar.t -> unit
(** Lets the one continue that waits in this box, and waits until it has. *)

val frames_of : Printexc.raw_backtrace -> string list

val start : (unit -> unit) -> unit
(** In a thread that is left behind. *)
