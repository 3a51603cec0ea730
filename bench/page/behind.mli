(** Where others are ahead of us. *)

type who =
  | Own  (** What the same scheduler, or threads, have for themselves. *)
  | Library  (** Another library of OCaml, under its own scheduler. *)
  | Language

val lines : Results.t -> (who * Line.t list) list
(** For each case the best of each of the three that is clearly faster than ours
    (which is the baseline), the most first. Ours is the row of the same host,
    and otherwise the best one. Threads are compared with threads only. Of a
    case that was measured beside a second domain as well, only that. *)
