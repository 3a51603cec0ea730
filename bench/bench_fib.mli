(** See {!Case}. The rows [throughput-X-N] and [p90-X-N] show the same loads:

    - [domains-N] is the same load for servers that compute on [N] domains. [N]
      is 1, 2, 4, ... up to the number of cores, or up to 4 if there are only
      two.
    - [load-N] is [N] percent of what the machine can compute, for servers with
      one domain for each core. The machine is measured again in each turn, for
      all rows of the turn.

    [impl] is the variant of the server, as in [Fib_service.Variants]. [host] is
    [eio]. *)

type asked = {
  n : int option;
      (** The number that all requests ask for. With [None] it is the smallest
          number that takes a core 20 ms. That is much longer than waking a
          process takes, and short enough for many requests in a sample. The
          paper's number is 45. *)
  rate : float option;
      (** The requests per second over the domains. With [None] it is 75 % of
          what the machine can compute. The paper's rate is 50. *)
}

val group : Case.group

val prepare : Effort.t -> asked -> Case.group
(** Finds out which number to ask for. The processes that this one starts from
    then on ask for that number. *)
