(** The links of HTML files to files on the disk. *)

val find : string -> string -> int -> int option
(** [find sub text i] is where [sub] stands in [text], from [i] on. *)

val pages : string -> string list
(** The HTML files in a folder and the folders in it, sorted. *)

val broken : string list -> string list
(** [broken pages] has a line for each link or picture of these files that leads
    to a file that is not there, or to a place that the file does not have.
    Addresses elsewhere are not followed. *)
