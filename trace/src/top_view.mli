(** The screen of [concord-trace top], and what its keys do. It doesn't know the
    terminal. *)

type t

val start : t
(** The list of structures, those first in which most tasks wait. *)

type key = Up | Down | Enter | Back | Character of char

val keys : string -> key list
(** The keys in what a terminal has sent. *)

val press : t -> Top_model.snapshot -> key -> t option
(** [None] if the user wants to quit. *)

val lines :
  t ->
  Top_model.t ->
  Top_model.snapshot ->
  title:string ->
  rows:int ->
  columns:int ->
  string list
(** Exactly [rows] lines, none longer than [columns]. The selected row begins
    with [>]. *)
