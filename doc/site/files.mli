(** Reads and writes whole files. *)

val read : string -> string

val write : string -> string -> unit
(** [write file text] also makes the folders of [file]. *)

val all : string -> string -> string list
(** [all folder suffix] are the files below [folder] whose names end with
    [suffix]. They are paths from [folder], sorted by name. *)
