(** Frames of the program, for people. *)

type t = {
  name : string;  (** The function, or [""]. *)
  file : string;
  line : int;
  is_of_program : bool;
      (** [false] if the frame belongs to this library, to a scheduler, or to
          the functions of the standard library that start threads and handlers.
          It is also [false] for a function of the standard library that one of
          these calls, and for the frames around the scheduler that runs the
          task. *)
}

val all : Printexc.raw_backtrace -> t list
(** The frames that have a line in a file, the innermost first. [[]] in a
    program without debugging information. *)

val is_of_stdlib : t -> bool
(** [true] for a function of the standard library. *)

val of_program : Printexc.raw_backtrace -> t list
(** The frames of the program, likewise. A call that is the last of its function
    leaves no frame. *)

val load : unit -> unit
(** Call this before a part of the diagnosis begins to observe the program. In
    bytecode, OCaml reads a program's debugging information when somebody asks
    for a frame's line for the first time. Whoever else asks meanwhile finds no
    line, and a domain that asks may crash (OCaml 5.4.1,
    [read_main_debug_info]). In native code this does nothing. *)

val of_lines : (string * string * int) list -> t list
(** The same for functions, files and lines from elsewhere. *)

val remembering : (Printexc.raw_backtrace -> 'a) -> Printexc.raw_backtrace -> 'a
(** [remembering f] is [f], which is called once for each backtrace. *)

val to_string : t -> string
(** For example [server.ml:40 (Server.handle)]. *)

val is_of_program : string -> bool
(** [true] if a function of this name belongs to the program, and neither to
    this library nor to a scheduler. *)
