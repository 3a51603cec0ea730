(** Channels to read from: what was read and not yet taken is in a buffer. *)

type in_channel

val stdin : in_channel
(** Has a buffer of its own, beside that of Stdlib's: do not mix the two. *)

val in_channel_of_descr : Unix.file_descr -> in_channel
(** O(1). {!close_in} of the last channel of this descriptor closes it. *)

val descr_of_in_channel : in_channel -> Unix.file_descr

val open_in : string -> in_channel
(** {b Suspends} while a system thread opens the file, unless its name is in
    memory. {b Cancelled}: at once; the file is closed when it is open. *)

val open_in_bin : string -> in_channel
val open_in_gen : open_flag list -> int -> string -> in_channel

val with_open_in : string -> (in_channel -> 'a) -> 'a
(** [with_open_in name f] is [f (open_in name)]; then, also if [f] raised, the
    channel is closed. *)

val read_file : string -> string
(** [read_file name] is [In_channel.with_open_bin name In_channel.input_all]:
    all that is in the file, with Stdlib's exceptions.

    - {b Suspends} while a system thread does all of that, unless the file is in
      memory and not larger than 256 kB.
    - {b Cancelled}: at once. The thread goes on, and what it reads is dropped.
    - {b Cost}: that of Stdlib's, and if a thread does it some ten microseconds
      more. *)

val input_char : in_channel -> char
val input_byte : in_channel -> int
val input_line : in_channel -> string
val input : in_channel -> bytes -> int -> int -> int
val really_input : in_channel -> bytes -> int -> int -> unit
val really_input_string : in_channel -> int -> string
val input_binary_int : in_channel -> int

val input_value : in_channel -> 'a
(** Of [output_value], or of Stdlib's. *)

val pos_in : in_channel -> int
(** As Stdlib's, also of a pipe, for which it counts from -1. Never suspends. *)

val seek_in : in_channel -> int -> unit
(** {b Suspends} only while another task reads from the channel. *)

val in_channel_length : in_channel -> int
(** Of the file, as Stdlib's. {b Suspends} only while another task reads from
    the channel. *)

val set_binary_mode_in : in_channel -> bool -> unit
(** Does nothing, as on any Unix. *)

val close_in : in_channel -> unit
(** Does nothing if the channel is closed. Otherwise, if it is the last one, as
    {!Concord_aio.close}. *)

val close_in_noerr : in_channel -> unit
