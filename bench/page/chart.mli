(** Charts of results: which rows, as which points. *)

type t = { file : string; plot : Plot.t }

val curves :
  file:string ->
  x:string ->
  group:string ->
  prefix:string ->
  ?scale:float * string ->
  only:(Results.row -> bool) ->
  Results.t ->
  t list
(** The absolute figures of the cases [PREFIX-NUMBER], as {!Line} has them, over
    the number; one curve for each [impl@host]. [scale] is by what they are
    divided, and the unit that is then written. None, if there are fewer than
    two numbers. *)

val times :
  file:string ->
  group:string ->
  ?series:(Results.row -> string) ->
  (string * string) list ->
  only:(Results.row -> bool) ->
  Results.t ->
  t list
(** {!Line.times} of rows in these cases, which have a label each. None without
    rows. *)

val distinct : 'a list -> 'a list
(** Each once, where its first is. *)
