(** The time until a waiting task continues, and the time until other tasks of
    its loop run. The figures are medians, and the worst of many samples. *)

val group : Case.group

(** {2 For other groups} *)

type samples

val samples : unit -> samples

val add : samples -> float -> unit
(** Adds a sample in nanoseconds. Only the first million samples count. *)

val answers : samples -> float list
(** The p50, p99 and p99.9 of the samples. *)

val spread :
  name:string ->
  title:string ->
  (string * string * (float -> float list)) list ->
  Case.comparison list
(** One comparison for each of the three percentiles. A row has its
    implementation, its host, and a function that measures it for so many
    seconds. The first row is the baseline. *)
