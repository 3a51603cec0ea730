include Stdlib.Domain

(* [Loop] uses this to identify the calling domain. It isn't an OCaml function, because a
   signal handler could interrupt the call of one. *)
external self : unit -> int = "model_domain_self" [@@noalloc]

(* With [true], no two answers of [self] are equal. With [false], all are. *)
external all_differ : bool -> unit = "model_domain_all_differ" [@@noalloc]
