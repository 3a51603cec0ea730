(** Channels to read from: what was read and not yet taken is in a buffer. *)

type in_channel

val in_channel : ?at:int -> ?standard:bool -> Unix.file_descr -> in_channel
(** [in_channel ~at ~standard fd] is a channel that begins at that position in
    the file; by default, where the descriptor is. [~standard] as
    {!Handle.create} has it. *)

val in_channel_of_descr : Unix.file_descr -> in_channel
val descr_of_in_channel : in_channel -> Unix.file_descr
val open_in : string -> in_channel
val open_in_bin : string -> in_channel
val open_in_gen : open_flag list -> int -> string -> in_channel
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
