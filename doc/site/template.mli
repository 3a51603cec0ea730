(** The frame of the site, which is its header, its two lists of links, and its
    footer. *)

type what = Landing | Page of Page.t

val frame :
  version:string -> repository:string option -> Page.t list -> what -> string
(** [frame ~version ~repository pages] reads [landing.html] and [contents.txt],
    the list of pages that readers see at the side. It returns a function that
    makes an HTML file, with a link to the address [repository]. It fails if a
    page of the package [concord] is missing in [contents.txt], or if a page in
    [contents.txt] does not exist. *)
