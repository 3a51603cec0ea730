(** See {!Case}. The rows [throughput-X-N] and [p90-X-N] show the same loads:

    - [domains-N]: the same load for servers that compute on [N] domains: 1, 2,
      4, ... up to the cores, or to twice as many where there are only two;
    - [load-N]: [N] percent of what the machine can compute, for servers with
      one domain for each core. That is measured anew in each turn, for all rows
      of the turn.

    [impl] is the variant of the server, as in [Fib_service.Variants]; [host] is
    [eio]. *)

type asked = {
  n : int option;
      (** The number that all requests ask for. [None]: the smallest that takes
          a core 20 ms: much longer than waking a process takes, and short
          enough for many requests in a sample. The paper's is 45. *)
  rate : float option;
      (** The requests per second over the domains. [None]: 75 % of what the
          machine can compute. The paper's is 50. *)
}

val group : Case.group

val prepare : Effort.t -> asked -> Case.group
(** Finds out which number to ask for; the processes that this one starts from
    then on ask for it. *)
