(** An open-loop load. Requests are due at a constant rate, even if earlier
    requests have not been answered. *)

type stream = { path : string; rate : float  (** Requests per second. *) }

type result = {
  per_second : float;  (** Answered requests. *)
  latency : float -> float;
      (** Percentiles, in milliseconds. A latency counts from the time at which
          the request was due. So it includes waiting for a connection, and
          delays of this process, as it would for a user. A request that was not
          answered counts with the time until the client stopped waiting. *)
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
(** [run ~clock ~connect ~connections ~warm_up ~seconds streams] returns the
    results of all streams. They run at the same time, and each has this number
    of connections. A request takes the connection that has been idle for the
    longest time, or waits for one. Requests that are due in the first [warm_up]
    seconds don't count. *)
