(** What a message says about a name. *)

type t =
  | Addresses of Unix.inet_addr list
  | Alias of string  (** Ask for this name. *)
  | No_address  (** The name exists. *)
  | No_such_name

val of_message :
  name:string -> Message.kind -> Message.t -> (t * int, string) result
(** The answer, with the seconds for which it may be kept: 0 if the message does
    not say. The aliases that lead to it are followed within the message. If it
    ends with one of which it says no more, this is the answer.

    An error is what the server could not do. *)
