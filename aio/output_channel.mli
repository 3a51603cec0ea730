(** Channels to write to. A buffer has the data not yet written. *)

(** {2 Channels to write to} *)

type out_channel

val stdout : out_channel
(** [stdout] has a buffer of its own, beside Stdlib's. Do not mix the two. *)

val stderr : out_channel
(** [stderr] has a buffer of its own too. *)

val out_channel_of_descr : Unix.file_descr -> out_channel
(** [out_channel_of_descr fd] is a channel writing to [fd].

    If it is the last channel of [fd], {!close_out} closes [fd]. O(1). *)

val descr_of_out_channel : out_channel -> Unix.file_descr
(** [descr_of_out_channel channel] is the descriptor of the channel. *)

val open_out : string -> out_channel
(** [open_out] is {!Concord_aio.open_in}, for writing. *)

val open_out_bin : string -> out_channel
(** [open_out_bin] is {!open_out}. *)

val open_out_gen : open_flag list -> int -> string -> out_channel
(** [open_out_gen flags perm name] opens a file like {!open_out}, with these
    flags. *)

val with_open_out : string -> (out_channel -> 'a) -> 'a
(** [with_open_out] is {!Concord_aio.with_open_in}, for writing. If {!close_out}
    raises, its exception is raised, unless [f] raised. *)

(** {2 Writing} *)

val output_char : out_channel -> char -> unit
(** [output_char channel c] writes [c]. All functions whose names begin with
    [output] suspend and are cancelled in this way:

    - {b Suspends} only while the buffer is full and cannot be written.
    - {b Cancelled} there, the first part is in the buffer, or written. *)

val output_byte : out_channel -> int -> unit
(** [output_byte] is Stdlib's [output_byte]. *)

val output_string : out_channel -> string -> unit
(** [output_string] is Stdlib's [output_string]. *)

val output_bytes : out_channel -> bytes -> unit
(** [output_bytes] is Stdlib's [output_bytes]. *)

val output : out_channel -> bytes -> int -> int -> unit
(** [output] is Stdlib's [output]. *)

val output_substring : out_channel -> string -> int -> int -> unit
(** [output_substring] is Stdlib's [output_substring]. *)

val output_binary_int : out_channel -> int -> unit
(** [output_binary_int] is Stdlib's [output_binary_int]. *)

(** {2 Position and mode} *)

val pos_out : out_channel -> int
(** [pos_out] is Stdlib's. Never suspends. *)

val seek_out : out_channel -> int -> unit
(** [seek_out channel pos] calls {!flush}, and then moves to this position. *)

val out_channel_length : out_channel -> int
(** The length of the file, without the data in the buffer, as in Stdlib.
    {b Suspends} only while another task writes. *)

val set_binary_mode_out : out_channel -> bool -> unit
(** Does nothing. *)

(** {2 Flushing and closing} *)

val flush : out_channel -> unit
(** [flush channel] writes the buffer. If the channel is closed, it does
    nothing.

    - {b Suspends} until the buffer is written.
    - {b Cancelled}, it leaves the rest in the buffer. *)

val close_out : out_channel -> unit
(** [close_out channel] writes the buffer like {!flush}, and then closes the
    descriptor, even if writing raises. If the channel is closed, or another
    task is closing it, it does nothing.

    If another task is writing to the channel, it gets [Sys_error]. If it was
    waiting for the peer, [close_out] doesn't wait for the peer too. Then it
    writes what the system takes at once. If bytes are left, they are lost, and
    [close_out] raises [Sys_error] as well.

    - {b Suspends} until the buffer is written and the descriptor is closed.
    - {b Cancelled} meanwhile, it closes the descriptor, and raises the host's
      exception. What could be written without waiting has been written. *)

val close_out_noerr : out_channel -> unit
(** [close_out_noerr channel] is {!close_out}, but raises nothing. *)

(**/**)

val drop_out : out_channel -> unit
(** For [Process] only: {!close_out}, but what is in the buffer isn't written.
*)

(**/**)
