(** Marks a toplevel's prompts and answers in examples, so that copying an
    example leaves them out. *)

val mark : string -> string
(** [mark html] is the page with changes in each block of code that has prompts.
    The changes are [span]s of the classes [prompt], [input] and [answer]. *)
