(** Values as strings that anybody may have sent.

    Unlike [Marshal], which trusts its input, {!decode} accepts nothing but what
    {!encode} could have written, and so each value has one encoding. Every
    length is compared with the bytes that are left before anything is
    allocated. *)

exception Malformed of string
(** The string is not the encoding of a value. {!decode} raises nothing else,
    whatever the string. *)

(** {2 Encoding} *)

val encode : (Buffer.t -> 'a -> unit) -> 'a -> string
(** [encode write v] is what [write] writes for [v]. *)

val write_byte : Buffer.t -> int -> unit
(** From 0 to 255. *)

val write_int : Buffer.t -> int -> unit
val write_string : Buffer.t -> string -> unit
val write_list : (Buffer.t -> 'a -> unit) -> Buffer.t -> 'a list -> unit

(** {2 Decoding} *)

type input
(** A string, and how much of it has been read. *)

val decode : (input -> 'a) -> string -> 'a
(** [decode read text] is what [read] reads, if that is all of [text].

    @raise Malformed otherwise. *)

val malformed : ('a, unit, string, 'b) format4 -> 'a
(** Raises {!Malformed} with this message, for readers of your own. *)

val read_byte : input -> int
val read_int : input -> int
val read_string : input -> string

val read_list : (input -> 'a) -> input -> 'a list
(** Each item must take at least one byte. *)
