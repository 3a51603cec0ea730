(** The command line of the service, with and without Concord. *)

type t = {
  port : int;
  limits : Http_limits.t;
  database : string;
  http_domains : int;
  workers : int;  (** The domains that compute. *)
  fibers : int;  (** The worker fibers. *)
  capacity : int;  (** The capacity of the queue. *)
  limit : float;  (** How long one job may compute, in seconds. *)
  grace : float;  (** The seconds from the signal to the end. *)
}

val term : t Cmdliner.Term.t
