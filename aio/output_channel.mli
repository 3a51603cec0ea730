(** Channels to write to: what was not yet written is in a buffer. *)

type out_channel

val stdout : out_channel

val stderr : out_channel
(** Buffers of their own, beside those of Stdlib: do not mix the two. *)

val out_channel_of_descr : Unix.file_descr -> out_channel
val descr_of_out_channel : out_channel -> Unix.file_descr

val open_out : string -> out_channel
(** As {!Concord_aio.open_in}. *)

val open_out_bin : string -> out_channel
val open_out_gen : open_flag list -> int -> string -> out_channel

val with_open_out : string -> (out_channel -> 'a) -> 'a
(** As {!Concord_aio.with_open_in}. What {!close_out} raises is raised, unless
    [f] raised. *)

val output_char : out_channel -> char -> unit
(** {b Suspends} only while the buffer is full and cannot be written.
    {b Cancelled} there: the first part is in the buffer, or written. So do the
    other functions called output. *)

val output_byte : out_channel -> int -> unit
val output_string : out_channel -> string -> unit
val output_bytes : out_channel -> bytes -> unit
val output : out_channel -> bytes -> int -> int -> unit
val output_substring : out_channel -> string -> int -> int -> unit
val output_binary_int : out_channel -> int -> unit

val output_value : out_channel -> 'a -> unit
(** The value is written by [Marshal] to a string first. *)

val pos_out : out_channel -> int
(** Never suspends. *)

val seek_out : out_channel -> int -> unit
(** {!flush}, and then goes to that position. *)

val out_channel_length : out_channel -> int
(** Of the file, without what is in the buffer, as Stdlib's. {b Suspends} only
    while another task writes. *)

val set_binary_mode_out : out_channel -> bool -> unit
(** Does nothing. *)

val flush : out_channel -> unit
(** {b Suspends} until the buffer is written. {b Cancelled}: the rest is still
    in the buffer. Does nothing if the channel is closed. *)

val close_out : out_channel -> unit
(** {!flush}, and then, also if that raises, closes the descriptor. Does nothing
    if the channel is closed. *)

val close_out_noerr : out_channel -> unit
(** {!close_out}, and raises nothing. *)
