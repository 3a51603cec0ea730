(** The page. *)

val write : folder:string -> Results.t -> unit
(** Writes [index.html] and its pictures, [results.md] and [results.json];
    pictures of an earlier page are removed. Makes [folder] if it is missing.

    @raise Sys_error if a file cannot be written.
    @raise Failure if gnuplot fails. *)

val write_results : folder:string -> Results.t -> unit
(** Only [results.json]. *)

val check_writable : string -> unit
(** Makes the folder, and finds out before anything is measured.

    @raise Sys_error if it cannot be written. *)
