(** The names of all operations in the interfaces. *)

val of_interfaces : unit -> string list
(** The functions of each structure, such as [Mvar.take]. *)
