(** Linux's reports about threads and processes, in [/proc].

    Other systems have no such reports. A test that needs one is left out there,
    and prints that it is. *)

val is_there : bool

val skip : string -> unit
(** [skip what] prints on the standard error that [what] is left out, because
    there is no [/proc]. *)

val only : string -> 'test list -> 'test list
(** [only what tests] is [tests]. Where there is no [/proc], it is empty, and
    [only] calls [skip what]. *)

val program : string -> (unit -> unit) -> unit
(** [program what run] calls [run ()]. Where there is no [/proc], it calls
    [skip what] instead. *)

val lines : string -> string list
(** [lines "self/status"] is the list of lines of this file of [/proc], or empty
    if the file doesn't exist. *)

val entries : string -> string list
(** The entries of this folder of [/proc]. There are none if it doesn't exist.
*)

val number : string -> string -> int option
(** [number "self/status" "VmRSS"] is the number after this name in this file.
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
