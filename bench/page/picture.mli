(** Pictures of results: which rows, as which points. *)

type t = { file : string; caption : string; plot : Plot.t }

type printed = {
  subject : Claim.subject;
  value : float;  (** In the unit of the row. *)
  text : string;  (** As the paper prints it. *)
}
(** A figure that the text of a paper gives. *)

val curves :
  file:string ->
  caption:string ->
  x:string ->
  group:string ->
  prefix:string ->
  ?only:(Results.row -> bool) ->
  Results.t ->
  t list
(** The rows of the cases [PREFIX-NUMBER], over the number; one curve for each
    [impl@host]. None, if there are fewer than two numbers. *)

val cases :
  file:string ->
  caption:string ->
  group:string ->
  cases:string list ->
  ?only:(Results.row -> bool) ->
  ?printed:printed list ->
  Results.t ->
  t list
(** The rows of these cases side by side, with the paper's own. None without
    rows. *)

val ratios :
  ?series:(Results.row -> string) -> group:string -> Results.t -> t list
(** How many times better than the baseline of its comparison each row of the
    group is. [series] is [impl@host] if it is not given. *)
