(** An open-loop load: requests are due at a constant rate, whether or not the
    ones before have been answered. *)

type stream = { path : string; rate : float  (** Requests per second. *) }

type result = {
  per_second : float;  (** Answered requests. *)
  latency : float -> float;
      (** Percentiles, in milliseconds. A latency counts from the time at which
          the request was due: what it waited for a connection, or because this
          process was late, is part of it, as it would be for a user. A request
          that was not answered counts with the time until it was given up. *)
  unanswered : int;
  failures : string list;
}

val run :
  clock:_ Eio.Time.Mono.t ->
  connect:(sw:Eio.Switch.t -> Client.t) ->
  connections:int ->
  warm_up:float ->
  seconds:float ->
  stream list ->
  result list
(** [run ~clock ~connect ~connections ~warm_up ~seconds streams] is the results
    of all streams, which run at the same time, each over so many connections: a
    request takes the one that has been idle for longest, or waits for one.
    Requests that are due in the first [warm_up] seconds are not part of them.
*)
