(** Encodes values as strings, and decodes strings from untrusted senders.

    Unlike [Marshal], which trusts its input, {!decode} accepts only what
    {!encode} could have written. So each value has exactly one encoding. Every
    length is compared with the number of bytes that are left before anything is
    allocated. *)

exception Malformed of string
(** The string is not the encoding of a value. {!decode} raises no other
    exception, whatever the string is. *)

(** {2 Encoding} *)

val encode : (Buffer.t -> 'a -> unit) -> 'a -> string
(** [encode write v] is the output of [write] for [v]. *)

val write_byte : Buffer.t -> int -> unit
(** Writes a number from 0 to 255. *)

val write_int : Buffer.t -> int -> unit
val write_string : Buffer.t -> string -> unit
val write_list : (Buffer.t -> 'a -> unit) -> Buffer.t -> 'a list -> unit

(** {2 Decoding} *)

type input
(** A string, and the number of bytes that have been read. *)

val decode : (input -> 'a) -> string -> 'a
(** [decode read text] is the value that [read] returns, if [read] has read all
    of [text].

    @raise Malformed otherwise. *)

val malformed : ('a, unit, string, 'b) format4 -> 'a
(** Raises {!Malformed} with this message. It is for readers that you write. *)

val read_byte : input -> int
val read_int : input -> int
val read_string : input -> string

val read_list : (input -> 'a) -> input -> 'a list
(** Each item must take at least one byte. *)
