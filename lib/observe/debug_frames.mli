(** Frames, for people: those of the program. *)

type t = {
  name : string;  (** The function, or [""]. *)
  file : string;
  line : int;
  is_of_program : bool;
      (** Neither of this library, nor of a scheduler, nor of what the standard
          library starts threads and handlers with, nor a function of the
          standard library that one of these calls. *)
}

val all : Printexc.raw_backtrace -> t list
(** Those that have a target in a file, the innermost first. [[]] in a program
    without debugging information. *)

val is_of_stdlib : t -> bool
(** Is it a function of the standard library? *)

val of_program : Printexc.raw_backtrace -> t list
(** Those of the program, likewise. A call that is the last of its function
    leaves no frame. *)

val remembering : (Printexc.raw_backtrace -> 'a) -> Printexc.raw_backtrace -> 'a
(** [remembering f] is [f], which is called once for each backtrace. *)

val to_string : t -> string
(** As [server.ml:40 (Server.handle)]. *)

val is_of_program : string -> bool
(** Does a function of this name belong to the program, and neither to this
    library nor to a scheduler? *)
