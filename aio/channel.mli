(** Buffered channels under Stdlib's names: those of both directions, and the
    standard ones. *)

include module type of struct
  include Input_channel
end

include module type of struct
  include Output_channel
end

val stdin : in_channel
val stdout : out_channel
val stderr : out_channel
val read_line : unit -> string
val read_int : unit -> int
val read_int_opt : unit -> int option
val read_float : unit -> float
val read_float_opt : unit -> float option
