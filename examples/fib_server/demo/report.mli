(** The demo's results as a table and as JSON. *)

type row = {
  variant : string;
  load : float;
      (** The rate of /fib, as a fraction of the number that the machine could
          compute per second, measured right before. *)
  fib : Http_load.Load.result;
  ping : Http_load.Load.result;
  cores : float option;
      (** The number of cores that the server kept busy, on average. *)
}

val print_table : n:int -> row list -> unit
val print_ratio : row list -> unit

val print_json : row list -> unit
(** Prints one line with [RESULT] and a list of objects. *)
