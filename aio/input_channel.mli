(** Channels to read from. A buffer has the data read and not yet taken. *)

(** {2 Channels to read from} *)

type in_channel

val stdin : in_channel
(** [stdin] has a buffer of its own, beside Stdlib's. Do not mix the two. *)

val in_channel_of_descr : Unix.file_descr -> in_channel
(** [in_channel_of_descr fd] is a channel reading from [fd].

    If it is the last channel of [fd], {!close_in} closes [fd]. O(1). *)

val descr_of_in_channel : in_channel -> Unix.file_descr
(** [descr_of_in_channel channel] is the descriptor of the channel. *)

val open_in : string -> in_channel
(** [open_in name] opens a file.

    - {b Suspends} while a system thread opens the file, unless its name is in
      memory.
    - {b Cancelled}, it raises at once. The file is closed when it is open. *)

val open_in_bin : string -> in_channel
(** [open_in_bin] is {!open_in}. *)

val open_in_gen : open_flag list -> int -> string -> in_channel
(** [open_in_gen flags perm name] opens a file like {!open_in}, with these
    flags. *)

val with_open_in : string -> (in_channel -> 'a) -> 'a
(** [with_open_in name f] is [f (open_in name)]. It closes the channel
    afterwards, even if [f] raised. *)

val read_file : ?limit:int -> string -> string
(** [read_file name] is the content of the file, like
    [In_channel.with_open_bin name In_channel.input_all], with Stdlib's
    exceptions. The file must not be longer than [limit], by default 67,108,864
    bytes (64 MiB). An endless FIFO or device therefore can't take all memory.

    - {b Suspends} while a system thread does all of this, unless the file is in
      memory and not larger than 256 kB.
    - {b Cancelled}, it raises at once. The thread continues, and its data is
      dropped.
    - {b Cost}: as Stdlib, and some ten microseconds more if a thread does it.
    - {b Raises} [Sys_error] if the file is longer than [limit]. *)

(** {2 Reading} *)

val input_char : in_channel -> char
(** [input_char] is Stdlib's [input_char]. *)

val input_byte : in_channel -> int
(** [input_byte] is Stdlib's [input_byte]. *)

val input_line : in_channel -> string
(** [input_line] is Stdlib's [input_line], but the line must not be longer than
    the channel's limit, see {!set_limit_in}.

    - {b Raises} [Sys_error] if the line is longer. *)

val input : in_channel -> bytes -> int -> int -> int
(** [input] is Stdlib's [input]. *)

val really_input : in_channel -> bytes -> int -> int -> unit
(** [really_input] is Stdlib's [really_input]. *)

val really_input_string : in_channel -> int -> string
(** [really_input_string] is Stdlib's [really_input_string]. The channel's limit
    doesn't count, because you choose the length. If the peer has sent you this
    length, check it first. *)

val input_binary_int : in_channel -> int
(** [input_binary_int] is Stdlib's [input_binary_int]. *)

val set_limit_in : in_channel -> int -> unit
(** [set_limit_in channel limit] makes [limit] the channel's limit, in bytes. It
    is the length of the longest line (without the newline) for {!input_line}.
    At first it is 1,048,576 (1 MiB).

    Without a limit, a peer that never sends a newline could take all of your
    program's memory. The channel needs at most about three times the limit.

    If a line is longer, the operation raises [Sys_error]. The message has the
    name of the function and the limit. The operation has taken nothing from the
    channel, so it fails again until you raise the limit or take bytes by
    {!input}. Most programs close the channel.

    - {b Raises} [Invalid_argument] if [limit < 1]. *)

val limit_in : in_channel -> int
(** [limit_in channel] is the limit of {!set_limit_in}. *)

(** {2 Position and mode} *)

val pos_in : in_channel -> int
(** [pos_in] is Stdlib's, which counts from -1 for a pipe. Never suspends. *)

val seek_in : in_channel -> int -> unit
(** [seek_in channel pos] moves to this position. {b Suspends} only while
    another task reads from the channel. *)

val in_channel_length : in_channel -> int
(** The length of the file, as in Stdlib. {b Suspends} only while another task
    reads from the channel. *)

val set_binary_mode_in : in_channel -> bool -> unit
(** Does nothing, as on any Unix. *)

(** {2 Closing} *)

val close_in : in_channel -> unit
(** [close_in channel] closes the channel.

    If it is the last one of its descriptor, it closes the descriptor by
    {!Concord_aio.close}. If the channel is closed, it does nothing. *)

val close_in_noerr : in_channel -> unit
(** [close_in_noerr channel] is {!close_in}, but raises nothing. *)
