(** What README.md says of single requests. Each function is one case. *)

val locked : database:string option -> unit
(** While the database is locked, jobs are refused and stored ones can't be
    read. Afterwards each job that was accepted is done. *)

val out_of_reach : unit -> unit
(** A service whose database doesn't answer any more answers its clients, and
    ends. *)

val deleted : unit -> unit
(** One job in the queue, and one that is computed. *)

val limited : unit -> unit
(** A job that takes too long fails. *)

val disconnected : unit -> unit
(** A client that disconnects doesn't stop its job. *)

val read_slowly : unit -> unit
(** A client that reads events slowly is told how many it missed. One that
    doesn't read at all is cut off after the grace. *)

val stopped : unit -> unit
(** On SIGTERM long polls are answered and event streams end, although their
    jobs have not ended. *)
