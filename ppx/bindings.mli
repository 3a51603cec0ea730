(** [let%lazy] and [let%lazy rec]. *)

open Ppxlib

val let_in :
  loc:Location.t -> rec_flag -> value_binding list -> expression -> expression
(** [let%lazy ... in e], as plain OCaml. *)

val definitions :
  loc:Location.t -> rec_flag -> value_binding list -> structure_item list
(** [let%lazy ...] in a structure, as plain OCaml. *)
