(** A page as odoc has written it, without a frame. *)

type link = { title : string; href : string }
type section = { link : link; sections : section list }

type t = {
  path : string;  (** ["concord/Concord/Mvar/index.html"] *)
  title : string;  (** Text without markup. *)
  header : string;  (** HTML, like [preamble] and [content]. *)
  preamble : string;
  content : string;
  is_module : bool;
  contents : section list;
      (** The headings, and the items of an interface below theirs. *)
  above : link list;
      (** The position of the page, which is the packages and modules around it.
      *)
}

val read : root:string -> string -> t
(** [read ~root file] is the page in [root/file], as
    [odoc html-generate --as-json] has written it. *)

val url : t -> string
(** The address from the top of the site. *)

val about : t -> string
(** What the page says first, without the command that starts a toplevel for its
    examples: that one names libraries the page is not about. *)

val text : string -> string
(** [text html] is [html] without its tags and entities, on one line. *)
