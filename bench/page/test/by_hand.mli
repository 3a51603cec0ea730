(** Results that are made by hand. *)

open Bench_page

val row :
  ?case:string ->
  ?unit_:string ->
  ?comparison:int ->
  string ->
  string ->
  float list ->
  Results.row
(** [row impl host samples] is a row. *)

val run : Results.row list -> Results.run
