(** The frame of the site, which is its header, its two lists of links, and its
    footer. *)

type what = Landing | Page of Page.t

val frame :
  version:string ->
  repository:string option ->
  social:(path:string -> string) ->
  Page.t list ->
  what ->
  string
(** [frame ~version ~repository ~social pages] reads [landing.html] and
    [contents.txt], the list of pages that readers see at the side. It returns a
    function that makes an HTML file, with a link to the address [repository],
    and the lines of [social] in the head. It fails if a page of the package
    [concord] is missing in [contents.txt], or if a page in [contents.txt] does
    not exist. *)
