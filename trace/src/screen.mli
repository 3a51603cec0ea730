(** The last lines of a terminal, in which a table is shown while programs write
    above. *)

type t

val open_ : unit -> t option
(** Takes the lower half of the terminal, or less. [None] if the standard output
    is not a terminal, or its size is not known, or too small. *)

val height : t -> int
(** The number of lines for the table. *)

val show : t -> string list -> unit
(** Shows these lines, to the extent that there is room, in place of those
    before. *)

val close : t -> unit
(** Gives the lines back. *)

val fit : columns:int -> string -> string
(** The beginning of a line that is too long. *)

val size : unit -> (int * int) option
(** The rows and columns of the process's terminal, if there is one. *)

val window_changed : int
(** The number of SIGWINCH, which comes when the size has changed. *)
