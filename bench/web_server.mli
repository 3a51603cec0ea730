(** The servers of the group [web], each as a process of its own. *)

type t

val port : t -> int

val start : name:string -> string list -> t
(** [start ~name command] runs a program. Once the program listens, it has to
    print a line that ends with [http://127.0.0.1:PORT]. The first word of
    [command] is a path from the folder of this program. The server ends with
    this process, even if a sample takes too long.

    @raise Failure if the program prints no such line. *)
