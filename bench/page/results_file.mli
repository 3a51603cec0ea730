(** What a run found, as it is saved and read. *)

exception Malformed of string
(** The message begins with the name of the file. *)

val write : string -> Results.t -> unit
(** An object with the conditions and the [rows].

    @raise Sys_error if the file cannot be written. *)

val write_rows : string -> Results.row list -> unit
(** The list of the rows alone.

    @raise Sys_error as above. *)

val read : string -> Results.t
(** Reads what either of them has written.

    @raise Malformed if it is anything else.
    @raise Sys_error if the file cannot be read. *)
