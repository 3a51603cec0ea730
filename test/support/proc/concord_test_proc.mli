(** What Linux says of threads and processes, in [/proc].

    Other systems say nothing. A test that can do nothing without is left out
    there, and says so. *)

val is_there : bool

val skip : string -> unit
(** [skip what] says on the standard error that [what] is left out, because
    there is no [/proc]. *)

val only : string -> 'test list -> 'test list
(** [only what tests] is [tests]. Where there is no [/proc], it is empty and
    calls [skip what]. *)

val program : string -> (unit -> unit) -> unit
(** [program what run] calls [run ()], or, where there is no [/proc],
    [skip what]. *)

val lines : string -> string list
(** [lines "self/status"] has the lines of this file of [/proc], or none if it
    is not there. *)

val entries : string -> string list
(** Those of this folder of [/proc], or none if it is not there. *)

val number : string -> string -> int option
(** [number "self/status" "VmRSS"] is the number behind this name in this file.
*)

val this_thread : unit -> string
(** The folder of the calling thread, for {!lines}.
    - {b Raises} [Unix.Unix_error] where there is no [/proc]. *)

(** {2 To be compared}

    Always 0 where there is no [/proc]. *)

val threads : unit -> int
(** How many threads this process has. *)

val descriptors : unit -> int
(** How many descriptors are open. *)
