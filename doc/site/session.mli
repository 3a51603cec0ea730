(** Examples as they are shown: a toplevel's prompts and answers are marked, so
    that copying an example leaves them out. *)

val mark : string -> string
(** [mark html] is a page with each block of code in it that has prompts
    changed: [span]s of the classes [prompt], [input] and [answer]. *)

val find : string -> string -> int -> int option
(** [find sub text i] is where [sub] next begins in [text], from [i] on. *)
