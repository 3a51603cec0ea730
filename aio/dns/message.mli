(** DNS messages (RFC 1035): as much of them as a resolver needs.

    A name is in lower case, without the final dot. *)

exception Malformed of string
(** What is wrong with the bytes. *)

type kind = A | Aaaa

type data =
  | Address of kind * Unix.inet_addr
  | Alias of string  (** CNAME *)
  | Authority of int
      (** SOA: for how many seconds the absence of a name may be kept. *)
  | Other  (** Another type, or another class than IN. *)

type record = { name : string; ttl : int; data : data }
(** A [ttl] of which the first bit is set is 0, as RFC 2181 demands. *)

type t = {
  id : int;
  is_response : bool;
  is_truncated : bool;  (** Then no records are read. *)
  code : int;  (** RCODE *)
  questions : (string * kind option) list;
      (** [None]: about something else than an address of class IN. *)
  answers : record list;
  authority : record list;
}

val is_name : string -> bool
(** Can the name be asked for? A label has 1 to 63 bytes, and a name 253. *)

val query : id:int -> string -> kind -> string
(** The bytes of a question to a recursive server.

    - {b Raises} [Invalid_argument] unless {!is_name}. *)

val decode : string -> t
(** The message that these bytes are. What follows the authority is not read.
    The time is linear in the length, as a name has a bounded number of pointers
    and each points backwards.

    @raise Malformed if they are none, and nothing else. *)
