(** See {!Case}. The rows [throughput-X] and [p90-X] show the same loads, X:

    - [domains-1], [domains-cores], [domains-2x-cores]: the same load for
      servers that compute on one domain, on as many as there are cores, and on
      twice as many;
    - [load-25], ..., [load-125]: so many percent of what the machine can
      compute, for servers with one domain for each core.

    [impl] is the variant of the server, as in [Fib_service.Variants]. *)

val group : Case.group

val prepare : Measure.effort -> Case.group
(** Finds out what the machine can compute, which takes some seconds; the
    processes that this one starts from then on offer the same loads. *)
