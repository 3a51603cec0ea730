(** Buffered channels under Stdlib's names. *)

type in_channel
type out_channel

val in_channel_of_descr : Unix.file_descr -> in_channel
val out_channel_of_descr : Unix.file_descr -> out_channel
val descr_of_in_channel : in_channel -> Unix.file_descr
val descr_of_out_channel : out_channel -> Unix.file_descr
val stdin : in_channel
val stdout : out_channel
val stderr : out_channel
val open_in : string -> in_channel
val open_in_bin : string -> in_channel
val open_in_gen : open_flag list -> int -> string -> in_channel
val open_out : string -> out_channel
val open_out_bin : string -> out_channel
val open_out_gen : open_flag list -> int -> string -> out_channel
val input_char : in_channel -> char
val input_byte : in_channel -> int
val input_line : in_channel -> string
val input : in_channel -> bytes -> int -> int -> int
val really_input : in_channel -> bytes -> int -> int -> unit
val really_input_string : in_channel -> int -> string
val input_binary_int : in_channel -> int
val input_value : in_channel -> 'a
val pos_in : in_channel -> int
val seek_in : in_channel -> int -> unit
val in_channel_length : in_channel -> int
val set_binary_mode_in : in_channel -> bool -> unit
val close_in : in_channel -> unit
val close_in_noerr : in_channel -> unit
val output_char : out_channel -> char -> unit
val output_byte : out_channel -> int -> unit
val output_string : out_channel -> string -> unit
val output_bytes : out_channel -> bytes -> unit
val output : out_channel -> bytes -> int -> int -> unit
val output_substring : out_channel -> string -> int -> int -> unit
val output_binary_int : out_channel -> int -> unit
val output_value : out_channel -> 'a -> unit
val pos_out : out_channel -> int
val seek_out : out_channel -> int -> unit
val out_channel_length : out_channel -> int
val set_binary_mode_out : out_channel -> bool -> unit
val flush : out_channel -> unit
val close_out : out_channel -> unit
val close_out_noerr : out_channel -> unit
val read_line : unit -> string
val read_int : unit -> int
val read_int_opt : unit -> int option
val read_float : unit -> float
val read_float_opt : unit -> float option
