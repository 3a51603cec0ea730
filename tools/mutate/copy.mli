(** A copy of the project, in which faults are made, and dune in it. *)

val enter : string -> unit
(** [enter root] copies the project at [root], without what dune and git keep
    there, and makes the copy the current folder. It is removed when the process
    ends, also by a signal, after what runs in it has ended. *)

type result = Passed | Failed | Too_long

val build : ?cache:string -> Dependants.test list -> result
(** [build tests] builds these programs, which it does not run: this fails if
    something does not compile. [cache] is dune's option, and ["disabled"] by
    default. *)

val run : limit:int -> Dependants.test list -> result
(** [run ~limit tests] runs these programs until one fails, for at most [limit]
    seconds. *)

val printed : unit -> string
(** [printed ()] is what dune printed the last time. *)
