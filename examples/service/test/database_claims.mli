(** The claims of README.md about the database. Each function is one case. *)

val locked : database:string option -> unit
(** While the database is locked, jobs are refused, and stored jobs can't be
    read. Afterwards each accepted job is done. *)

val slow : program:string -> unit -> unit
(** If storing a job takes longer than the limit, its client is told the outcome
    that is stored in the end. *)

val unanswered : program:string -> unit -> unit
(** If storing a job takes even longer, its outcome counts as unknown, and
    clients are told what the database has. *)

val out_of_reach : unit -> unit
(** If the database no longer answers, the service still answers its clients,
    and ends. *)
