(** Whole files. *)

val read : string -> string

val write : string -> string -> unit
(** [write file text] makes the folders of [file] too. *)

val all : string -> string -> string list
(** [all folder suffix] are the files below [folder] whose names end with
    [suffix], as paths from [folder], in the order of their names. *)
