(** A process that measures one row; if its case is one of {!Case.beside}, that
    of the plain case, beside a domain that it spawns before. A program of
    another language is asked for the plain case.

    Every row has a process of its own, so that no row inherits another's heap,
    domains or threads, and a row that needs another program (with or without
    plug-ins) is measured in turns with the rest. A process that has nothing to
    measure waits for its standard input. *)

val serve : Case.group list -> unit
(** The program of the process: takes the samples that it is asked for, until
    its standard input ends. A request is a line with the three numbers of
    {!ask}, and the answer is a line with one, or with several of a load. *)

val serve_rows : (string * Case.row list) list -> unit
(** {!serve}, with the names of the groups and the rows of each that the program
    has. *)

val is_there : Case.program -> bool
(** Whether the rows of that program can be measured: {!Case.Go}, {!Case.Node},
    {!Case.Tokio}, {!Case.Picos} and {!Case.Async} only where these were
    installed. *)

type t
(** A running process, seen from the coordinator. *)

val start : Case.group -> Case.row -> t

exception No_result of { row : Case.row; reason : string }
(** The process ended, or took minutes. *)

val sample : t -> crowd:int -> int -> float list
(** [sample t ~crowd n] is one sample of [n] operations; {!Case.Crowd} has at
    most [crowd] tasks.

    @raise No_result as the result of {!ask} does. *)

val ask : t -> crowd:int -> ?rate:float -> int -> unit -> float list
(** [ask t ~crowd ~rate n] is what waits for such a sample, which is taken
    meanwhile; it raises {!No_result} if there is none. That of a {!Case.Load}
    takes [n] milliseconds, and may have several answers; [rate], which others
    do not need, is by default [infinity]. *)

val stop : t -> unit
