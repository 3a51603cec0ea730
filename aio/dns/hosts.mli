(** The file [/etc/hosts]. *)

type t

val of_lines : string list -> t
(** A line that begins with no address is passed over. *)

val find : t -> string -> Unix.inet_addr list
(** The addresses of a name in lower case, in the order of the lines. *)
