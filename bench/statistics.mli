(** What is said of samples. *)

val quartiles : float array -> float * float * float
(** The median is the second; they interpolate between samples. *)

val median : float array -> float

val spread : float array -> float
(** Between the first and the third quartile, as a fraction of the median. *)

val pairs :
  (float -> float -> float) -> float array -> float array -> float array
(** Of the samples that both have: those of equal index, from the first on. *)

val error : float array -> float
(** About how far the median is from that of so many samples that one more would
    change nothing: its standard error, by the distance of the quartiles, as a
    fraction of the median. *)
