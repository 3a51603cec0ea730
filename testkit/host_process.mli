(** The process in which a clause of a host is checked. It executes the program
    again, with the same arguments.

    A forked process would not do. OCaml has no fork once there was a second
    domain, and the threads that a library starts when it is initialised are
    missing in the child. *)

type t
(** A declared host. *)

val declare : (seed:int -> clause:string -> Trial.case list) -> t
(** The function gives the cases of a clause. In the process that was started
    for one of them it does not return: they run, and the process ends.

    - {b Raises} [Invalid_argument] after {!verdict}. *)

val verdict : t -> seed:int -> seconds:float -> clause:string -> Trial.ending
(** Runs the cases of the clause in a new process. *)
