(** Every structure between every two hosts, both ways. *)

val run : title:string -> unit
(** Runs all cells, and prints them; exits with a code that is not 0 if one
    fails or never ends. *)
