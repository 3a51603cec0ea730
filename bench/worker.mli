(** A process that measures one row. If the case is one of {!Case.beside}, the
    process first spawns a domain, and then measures the plain case beside it. A
    program of another language is asked for the plain case.

    Every row has a process of its own, so that no row inherits the heap, the
    domains or the threads of another row. A row that needs another program
    (with or without plug-ins) is measured in turns with the others. A process
    that has nothing to measure waits for its standard input. *)

val serve : Case.group list -> unit
(** The main function of the process. It takes the requested samples until its
    standard input ends. A request is a line with the three numbers of {!ask}.
    The answer is a line with one number, or with several for a load. *)

val serve_rows : (string * Case.row list) list -> unit
(** {!serve}, with the names of the groups, and the rows of each group that the
    program has. *)

val is_there : Case.program -> bool
(** Whether the rows of that program can be measured. {!Case.Go}, {!Case.Node},
    {!Case.Tokio}, {!Case.Picos} and {!Case.Async} can be measured only if they
    were installed. *)

type t
(** A running process, as the coordinator sees it. *)

val may_be_real_time : unit -> bool
(** Whether [chrt] may give a process real-time priority. *)

val start : ?real_time:bool -> Case.group -> Case.row -> t
(** With [~real_time:true], the process runs at real-time priority (20, round
    robin), so other programs hardly delay it. *)

exception No_result of { row : Case.row; reason : string }
(** The process ended, or it took minutes. *)

val sample : t -> crowd:int -> int -> float list
(** [sample t ~crowd n] is one sample of [n] operations. A {!Case.Crowd} has at
    most [crowd] tasks.

    @raise No_result like the result of {!ask}. *)

val undelayed_sample : unit -> t -> crowd:int -> int -> float list
(** [undelayed_sample ()] is a {!sample} for the processes of one row. A sample
    is dropped and taken again if the process waited for a core for more than 2
    % of the time, because other programs used the cores (in samples of more
    than a second, Linux adds 5 % at real-time priority). After three samples in
    a row, the row is believed to need more cores itself, and its samples are
    not dropped any more. If the system doesn't say how long a process waited,
    none is dropped. *)

val drops : unit -> int * int
(** The number of samples that were dropped, and of all that were taken. *)

val ask : t -> crowd:int -> ?rate:float -> int -> unit -> float list
(** [ask t ~crowd ~rate n] begins such a sample, and returns a function that
    waits for it. The function raises {!No_result} if there is no result. A
    sample of a {!Case.Load} takes [n] milliseconds, and may have several
    answers. Only a load needs [rate], which is [infinity] by default. *)

val stop : t -> unit
