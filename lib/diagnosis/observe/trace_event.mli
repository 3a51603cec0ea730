(** Events of a trace, and the text that they are on their way to a reader. *)

include module type of struct
  include Trace_types
end

val to_string : event -> string
(** The text has at most 1000 bytes. Longer texts are cut. A mark is cut to
    {!max_length} bytes at its end, and other events at their beginning. *)

val max_length : int

val of_string : string -> event option
(** [None] if another version of the library wrote it. *)
