(** Channels to write to: what was not yet written is in a buffer. *)

type out_channel

val out_channel : ?at:int -> ?standard:bool -> Unix.file_descr -> out_channel
(** As {!Input_channel.in_channel}. *)

val out_channel_of_descr : Unix.file_descr -> out_channel
val descr_of_out_channel : out_channel -> Unix.file_descr
val open_out : string -> out_channel
val open_out_bin : string -> out_channel
val open_out_gen : open_flag list -> int -> string -> out_channel
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
