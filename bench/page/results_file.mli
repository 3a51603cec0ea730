(** What runs found, as it is saved and read. *)

exception Malformed of string
(** The message begins with the name of the file. *)

val write : string -> Results.t -> unit
(** @raise Sys_error if the file cannot be written. *)

val read : string -> Results.t
(** Reads what {!write} has written.

    @raise Malformed if it is anything else.
    @raise Sys_error if the file cannot be read. *)
