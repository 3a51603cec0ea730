(** DNS messages (RFC 1035), to the extent that a resolver needs.

    A name is in lower case, without the final dot. If a label contains a dot or
    a backslash, a backslash precedes it. Such names exist, for example the mail
    address in a SOA record. *)

exception Malformed of string
(** The fault of the bytes. *)

type kind = A | Aaaa

val other : kind -> kind

type data =
  | Address of kind * Unix.inet_addr
  | Alias of string  (** CNAME *)
  | Authority of int
      (** SOA, with the seconds for which the absence of a name may be kept. *)
  | Name_server  (** NS *)
  | Other  (** Another type, or another class than IN. *)

type record = { name : string; ttl : int; data : data }
(** A [ttl] of which the first bit is set is 0, as RFC 2181 demands. *)

type t = {
  id : int;
  is_response : bool;  (** To a standard query (OPCODE 0). *)
  is_authoritative : bool;
  is_truncated : bool;  (** Then no records are read. *)
  is_recursive : bool;
      (** The server asks others (RA), so it has an answer for every name. *)
  code : int;  (** RCODE *)
  questions : (string * kind option) list;
      (** [None] if it asks for something else than an address of class IN. *)
  answers : record list;
  authority : record list;
}

val name_of_string : string -> string
(** The name in lower case, without the final dot. *)

val is_digit : char -> bool

val is_name : string -> bool
(** [true] if a host can have the name. A label has 1 to 63 letters, digits,
    hyphens and underscores, and a name 253 bytes. The last label isn't a
    number, because [192.0.2] and [256.1.1.1] look like addresses (RFC 1123). *)

val query : id:int -> string -> kind -> string
(** The bytes of a question to a recursive server.

    - {b Raises} [Invalid_argument] unless {!is_name}. *)

val head : string -> t
(** [head bytes] is the message without its records, so it says which question
    the message answers.

    - {b Raises} {!Malformed} if [bytes] don't begin like a message. *)

val decode : string -> t
(** [decode bytes] is the message. The part after the authority is not read. The
    time is linear in the length, because a name has a bounded number of
    pointers and each points backwards.

    - {b Raises} {!Malformed} if [bytes] are not a message, and nothing else. *)
