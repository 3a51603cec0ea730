(** The identity of the calling task, from the answer of its scheduler. *)

val by_plugin : Plugin.t -> Who.t
(** - {b Raises} {!Plugin.Elsewhere} if the caller is not a task of that
      scheduler. *)

val by_effect :
  ((Who.t option Concord_suspend.resumer -> Who.t option option) ->
  Who.t option option) ->
  Who.t option
(** [by_effect suspend] asks by an effect. [suspend block] performs
    [Suspend block], or is [None] if the effect has no handler. Then
    [by_effect suspend] is [None] too. *)

val is_question : ('a Concord_suspend.resumer -> 'a option) -> bool
(** [true] for the block of a suspension of {!by_effect}, in which the task does
    not wait for anything. *)

val waker : unit -> Who.t
(** The calling task, or its thread if that calls for no task. It never
    suspends, so it knows less about tasks than {!Reach.who}. *)
