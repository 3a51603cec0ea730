(** The answer of a message about a name. *)

type t =
  | Addresses of Unix.inet_addr list
  | Alias of string  (** Ask for this name. *)
  | No_address  (** The name exists. *)
  | No_such_name  (** The name has no records of any kind (RFC 8020). *)

val of_message :
  name:string -> Message.kind -> Message.t -> (t * int, string) result
(** The answer, with the seconds for which it may be kept, which are 0 if the
    message does not say. Aliases that lead to it are followed within the
    message. If it ends with an alias about which it says no more, the answer is
    this alias.

    The error is the reason why the server could not answer. One that only
    refers to other servers has not answered. *)
