(** The entries that readers can search for. *)

val script : index:string -> Page.t list -> string
(** [script ~index pages] is a script that defines the sections of all pages,
    and the modules, types, values and exceptions of odoc's [index]. *)
