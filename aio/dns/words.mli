(** The words of a line of a file of the system. *)

val of_line : ?comment:char list -> string -> string list
(** What is between blanks, up to a character of [comment] ([#] by default). *)
