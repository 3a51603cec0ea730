(** Lets a toplevel accept examples that are copied from the documentation.

    A program that is linked with this accepts an example as it is printed, with
    its prompts and answers. A line that begins with ["# "] begins a phrase. The
    phrase ends with [;;], or before the first line that is not indented more.
    The lines from there to the next prompt are an answer. They are left out as
    long as more input is available at once. All other input is read as usual.
*)

type t

val create : unit -> t

val line : t -> more:bool -> string -> string option
(** [line t ~more text] is the text that the toplevel should read for the line
    [text] (without its end), or [None] if the line is left out. [more] is
    [true] if more input is available at once. *)

val ending : t -> string option
(** The text that the toplevel should read at the end of the input. *)
