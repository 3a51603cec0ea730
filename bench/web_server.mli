(** The servers of the group [web], as processes of their own. *)

type t

val port : t -> int

val start : name:string -> string list -> t
(** [start ~name command] runs a program that prints a line ending with
    [http://127.0.0.1:PORT] once it listens. [command]'s first word is a path
    from the folder of this program.

    The server ends with this process, also where a sample takes too long.

    @raise Failure if it prints no such line. *)
