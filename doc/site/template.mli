(** The frame of the site: its header, its two lists of links, its footer. *)

type what = Landing | Page of Page.t

val frame : version:string -> searches:bool -> Page.t list -> what -> string
(** [frame ~version ~searches pages] reads [contents.txt], the list of pages
    that readers see at the side, and [landing.html], and gives a function that
    makes a file of HTML. It fails if a page of the package [concord] is missing
    in [contents.txt], or one that stands there does not exist. *)
