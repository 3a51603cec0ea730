(** A copy of the project, for faults, and runs of dune in it. *)

val enter : string -> unit
(** [enter root] copies the project at [root], except the folders of dune and
    git, and makes the copy the current folder. When the process ends, even by a
    signal, the programs in the copy end first, and then the copy is removed. *)

type result = Passed | Failed | Too_long

val build : ?cache:string -> Dependants.test list -> result
(** [build tests] builds these programs without running them. So it fails only
    if something does not compile. [cache] is dune's option, which is
    ["disabled"] by default. *)

val run : limit:int -> Dependants.test list -> result
(** [run ~limit tests] runs these programs until one fails, for at most [limit]
    seconds. *)

val printed : unit -> string
(** [printed ()] is the last output of dune. *)
