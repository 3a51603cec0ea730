(** The names of all operations, as the interfaces have them. *)

val of_interfaces : unit -> string list
(** Such as [Mvar.take]: the functions of each structure. *)
