(** The symbols of an executable. *)

type t

val read : string -> t
(** [read path] reads the file.

    - {b Raises} [Refused.Refused] if it isn't a program for x86-64. *)

val symbol : t -> string -> int option
(** The address of the symbol in the file. *)

val after : t -> int -> int
(** [after t address] is the address of the next symbol, where the function at
    [address] ends at the latest. *)

val headers_at : t -> int
(** The address of the program headers in the file. The difference to the
    address in memory ({!Process.program_headers}) is that of everything else.
*)

val extent : t -> int * int
(** The addresses in the file from the first part that is loaded up to the end
    of the last one. *)
