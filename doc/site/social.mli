(** What a page tells sites that show a preview of a link to it. *)

val tags : address:string option -> has_picture:bool -> path:string -> string
(** [tags ~address ~has_picture ~path] are lines for the head of the page at
    [path]. [address] is where the site will be, without a slash at the end. A
    preview needs whole addresses, so there are no lines without it. *)

val picture : string
(** The name of the picture's file, at the top of the site. *)

val width : int
val height : int
