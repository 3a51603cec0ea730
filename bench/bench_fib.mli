(** See {!Case}. The rows [throughput-X] and [p90-X] show the same loads, X:

    - [domains-1], [domains-cores], [domains-2x-cores]: the same load for
      servers that compute on one domain, on as many as there are cores, and on
      twice as many;
    - [load-25], ..., [load-125]: so many percent of what the machine can
      compute, for servers with one domain for each core. That is measured anew
      in each turn, for all rows of the turn.

    [impl] is the variant of the server, as in [Fib_service.Variants]; [host] is
    [eio]. All ask for the same number, the smallest that takes a core 20 ms:
    much longer than waking a process takes, and short enough for many requests
    in a sample. The paper's is the 45th, on a larger machine. *)

val group : Case.group

val prepare : Effort.t -> Case.group
(** Finds out which number to ask for; the processes that this one starts from
    then on ask for it. *)
