(** What Linux says about a process. *)

type area = { first : int; after : int }
(** A part of the memory, from [first] up to [after]. *)

val check : int -> unit
(** [check pid] returns if this command can read processes here at all, and
    there is such a process.

    - {b Raises} [Refused.Refused] otherwise. *)

val refuse_access : int -> 'a
(** [refuse_access pid] says why the caller may not read the process.

    - {b Raises} [Refused.Refused]. *)

val executable : int -> string
(** The path through which the program's file can be read, even if the process
    has another root folder, or if the file was removed. *)

val program_headers : int -> int
(** The address of the executable's program headers. *)

val areas : int -> area list
(** The memory that may have stacks, and values of OCaml. *)

val present : int -> area -> area list
(** [present pid area] is the part of [area] that the process has ever written,
    so that the rest is not read. *)

val has_ended : int -> thread:int -> bool
(** A thread that has ended may still be listed. *)

val inner_pid : int -> int option
(** [inner_pid pid] is the number of the process in its container, if it has
    another one there. *)
