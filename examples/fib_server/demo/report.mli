(** The demo's results as a table and as JSON. *)

type row = {
  variant : string;
  load : float;
      (** What part of the /fib that the machine computes per second was
          offered, by what was measured right before. *)
  fib : Http_load.Load.result;
  ping : Http_load.Load.result;
  cores : float option;  (** That the server kept busy, on average. *)
}

val print_table : n:int -> row list -> unit
val print_ratio : row list -> unit

val print_json : row list -> unit
(** One line, [RESULT] and a list of objects. *)
