(** How long it takes until a task that waited goes on, and how long the others
    of its loop wait for their turns: medians, and the worst of many. *)

val group : Case.group

(** {2 For other groups} *)

type samples

val samples : unit -> samples

val add : samples -> float -> unit
(** In nanoseconds. The first million of them count. *)

val answers : samples -> float list
(** Their p50, p99 and p99.9. *)

val spread :
  name:string ->
  title:string ->
  (string * string * (float -> float list)) list ->
  Case.comparison list
(** One comparison for each of the three. A row has its implementation, its
    host, and what measures it for so many seconds. The first row is the
    baseline. *)
