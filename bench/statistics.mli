(** Statistics of samples. *)

val quartiles : float array -> float * float * float
(** The second one is the median. They are interpolated between samples. *)

val median : float array -> float

val spread : float array -> float
(** The distance between the first and the third quartile, as a fraction of the
    median. *)

val pairs :
  (float -> float -> float) -> float array -> float array -> float array
(** Applies the function to the samples of the same index, for as many as both
    have. *)

val interval : samples:int -> float * float * float -> float * float
(** [interval ~samples quartiles] is the interval that has the median of
    infinitely many samples, with a probability of about 95 %. It is estimated
    from the quartiles, as if the logarithms of the samples were normally
    distributed. The samples are positive. *)

val error : float array -> float
(** About how far the median is from the median of infinitely many samples. It
    is the standard error, estimated from the quartiles, as a fraction of the
    median. *)
