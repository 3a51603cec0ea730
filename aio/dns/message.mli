(** DNS messages (RFC 1035), to the extent that a resolver needs.

    A name is in lower case, without the final dot. *)

exception Malformed of string
(** The fault of the bytes. *)

type kind = A | Aaaa

type data =
  | Address of kind * Unix.inet_addr
  | Alias of string  (** CNAME *)
  | Authority of int
      (** SOA, with the seconds for which the absence of a name may be kept. *)
  | Other  (** Another type, or another class than IN. *)

type record = { name : string; ttl : int; data : data }
(** A [ttl] of which the first bit is set is 0, as RFC 2181 demands. *)

type t = {
  id : int;
  is_response : bool;
  is_truncated : bool;  (** Then no records are read. *)
  code : int;  (** RCODE *)
  questions : (string * kind option) list;
      (** [None] if it asks for something else than an address of class IN. *)
  answers : record list;
  authority : record list;
}

val is_name : string -> bool
(** [true] if the name can be asked for. A label has 1 to 63 bytes, and a name
    253. *)

val query : id:int -> string -> kind -> string
(** The bytes of a question to a recursive server.

    - {b Raises} [Invalid_argument] unless {!is_name}. *)

val decode : string -> t
(** [decode bytes] is the message. The part after the authority is not read. The
    time is linear in the length, because a name has a bounded number of
    pointers and each points backwards.

    - {b Raises} {!Malformed} if [bytes] are not a message, and nothing else. *)
