(** Examples that are copied from the documentation, for a toplevel.

    What is linked with this takes an example as it is printed, with the prompts
    and the answers. A line that begins with ["# "] begins a phrase, which ends
    with [;;], or before the first line that is not indented more. The lines
    from there to the next prompt are an answer, and are left out as long as
    more input is there already. All else is read as ever. *)

type t

val create : unit -> t

val line : t -> more:bool -> string -> string option
(** [line t ~more text] is what the toplevel is to read for the line [text],
    without its end, and [None] for one to be left out. [more] tells whether
    input follows without delay. *)

val ending : t -> string option
(** What the toplevel is to read at the end of the input. *)
