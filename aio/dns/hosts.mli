(** The file [/etc/hosts]. *)

type t

val of_lines : string list -> t
(** If a line does not begin with an address, it is skipped. *)

val find : t -> string -> Unix.inet_addr list
(** The addresses of a name in lower case and without a final dot, in the order
    of the lines. *)
