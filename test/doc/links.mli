(** The links of HTML files to files on the disk. *)

val pages : string -> string list
(** The HTML files in a folder and its subfolders, sorted. *)

val broken : string list -> string list
(** [broken pages] has a line for each bad link or picture of these files. A
    link is bad if it leads to a file that doesn't exist, or to an anchor that
    the file doesn't have. Links to other sites aren't followed. *)
