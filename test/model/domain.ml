include Stdlib.Domain

(* What [Loop] takes for the calling domain. Not an OCaml function, which could be
   interrupted where it is called. *)
external self : unit -> int = "model_domain_self" [@@noalloc]

(* No two answers of [self] are equal, or all are. *)
external all_differ : bool -> unit = "model_domain_all_differ" [@@noalloc]
