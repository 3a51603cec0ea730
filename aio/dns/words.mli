(** The words of a line of a file of the system. *)

val of_line : ?comment:char list -> string -> string list
(** The words between blanks, up to a character of [comment] ([#] by default).
*)
