(** Operations that don't have to wait. *)

val operations : unit -> (string * (unit -> unit Lwt.t)) list
(** The operations by name, on new structures. If no other task uses its
    structure, an operation can be called again and again. *)
