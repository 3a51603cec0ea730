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
val in_channel_length : in_channel -> int
val close_in : in_channel -> unit
val close_in_noerr : in_channel -> unit
val output_char : out_channel -> char -> unit
val output_byte : out_channel -> int -> unit
val output_string : out_channel -> string -> unit
val output_bytes : out_channel -> bytes -> unit
val output : out_channel -> bytes -> int -> int -> unit
val output_substring : out_channel -> string -> int -> int -> unit
val flush : out_channel -> unit
val close_out : out_channel -> unit
val close_out_noerr : out_channel -> unit
