(** The cases in which others are faster than Concord. *)

type who =
  | Own  (** The own structures of the same scheduler, or of threads. *)
  | Library  (** Another library of OCaml, under its own scheduler. *)
  | Language

val lines : Results.t -> (who * Line.t list) list
(** For each case and each of the three kinds, the fastest row that is clearly
    faster than Concord's, with the largest lead first. Concord's row is the
    baseline. It is the row on the same host, or else the best one. Threads are
    compared only with threads. If a case was also measured beside a second
    domain, only that counts. *)
