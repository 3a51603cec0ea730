(** The names of structures ([Concord.Tools.Debug.named]). *)

type t

val read : Heap.t -> Layout.t -> t

val find : t -> int -> string option
(** [find t structure] is its name, or that of the structure that it is a part
    of. *)
