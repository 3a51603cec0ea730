(** Prometheus' own parser of OpenMetrics, which is a part of its client for
    Python ([prometheus_client]). *)

val is_here : bool
(** [false] if Python or the client is missing. A line on the standard error
    then says so. *)

type t = {
  families : string list;  (** Name, type and unit of each, in order. *)
  samples : ((string * (string * string) list) * float) list;
      (** The name and the labels of each, with its value. *)
}

val parse : string -> t
(** Fails if the parser refuses the text. *)
