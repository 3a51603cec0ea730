(** The file that Perfetto and [chrome://tracing] open, which has events of
    Chrome, as JSON. *)

val write :
  out_channel -> names:(int * string) list -> lost:int -> Timeline.t -> unit
(** Each process has two groups of tracks, of its domains and of its tasks.
    Waits and runs are slices. An arrow leads to the slice of the task that
    continues. It comes from the slice of the task that wakes it, or of the
    domain if that task is not known. *)
