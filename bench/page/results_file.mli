(** Saves and reads results. *)

exception Malformed of string
(** The message begins with the name of the file. *)

val write : string -> Results.t -> unit
(** @raise Sys_error if the file cannot be written. *)

val read : string -> Results.t
(** Reads a file that {!write} has written.

    @raise Malformed if the file has other contents.
    @raise Sys_error if the file cannot be read. *)
