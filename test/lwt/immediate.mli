(** Operations that need not wait. *)

val operations : unit -> (string * (unit -> unit Lwt.t)) list
(** By their names, on structures that are created now. Each can be called again
    and again, if no other task uses its structure. *)
