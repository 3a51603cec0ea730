(** The claims of README.md about single requests. Each function is one case. *)

val deleted : unit -> unit
(** One deleted job is in the queue, and another one is being computed. *)

val measured : unit -> unit
(** [/metrics] has what Concord measures. *)

val limited : unit -> unit
(** A job that takes too long fails. *)

val limited_in_turn : program:string -> unit -> unit
(** The time that a job waits for a domain doesn't count for its limit. *)

val bounded : program:string -> unit -> unit
(** Jobs beyond the worker fibers and the queue are refused. A job that waits
    for a domain can be deleted. *)

val not_numbers : program:string -> unit -> unit
(** Numbers that only OCaml understands are refused, wherever a client may write
    a number. *)

val disconnected : unit -> unit
(** A client that disconnects doesn't stop its job. *)

val malformed : program:string -> unit -> unit
(** Malformed requests are answered with an error, and harm no other client. *)

val few_descriptors : program:string -> unit -> unit
(** With few descriptors and many idle clients, jobs are still accepted and
    stored. *)

val no_descriptor : program:string -> unit -> unit
(** If no connection can be accepted, the service tries again. *)

val deaf : program:string -> unit -> unit
(** Clients that read nothing don't keep the service from ending. *)

val without_chunks : unit -> unit
(** A client of HTTP/1.0 can read events. *)

val read_slowly : unit -> unit
(** A client that reads events slowly is told how many it has missed. A client
    that doesn't read at all is cut off after the grace period. *)

val stopped : unit -> unit
(** On SIGTERM, long polls are answered and event streams end, even if their
    jobs have not ended. *)
