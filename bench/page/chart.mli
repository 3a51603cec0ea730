(** The charts of results, and the rows that they show as points. *)

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
    the number. There is one curve for each [impl@host]. [scale] is the divisor
    of the figures and the unit after the division. The result is [None] if
    there are fewer than two numbers. *)

val times :
  file:string ->
  group:string ->
  ?series:(Results.row -> string) ->
  (string * string) list ->
  only:(Results.row -> bool) ->
  Results.t ->
  t list
(** {!Line.times} of rows in these cases, each of which has a label. [None] if
    there are no rows. *)

val distinct : 'a list -> 'a list
(** Each element once, at its first position. *)
