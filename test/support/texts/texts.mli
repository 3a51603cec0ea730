(** Search in texts, in quadratic time. *)

val find : ?from:int -> string -> part:string -> int option
(** [find ~from text ~part] is the first position of [part] in [text], at or
    after [from], which is 0 by default. *)

val contains : string -> part:string -> bool
(** Whether [part] occurs in [text]. *)
