(** Which task the calling one is, by what its scheduler answers. *)

val by_plugin : Plugin.t -> Who.t
(** @raise Plugin.Elsewhere if it is no task of that scheduler. *)

val by_effect :
  ((Who.t option Concord_suspend.resumer -> Who.t option option) ->
  Who.t option option) ->
  Who.t option
(** [by_effect suspend], where [suspend block] performs [Suspend block], or is
    [None] if nobody handles it: then so is [by_effect suspend]. *)

val is_question : ('a Concord_suspend.resumer -> 'a option) -> bool
(** Is it the block of a suspension of {!by_effect}, in which the task does not
    wait for anything? *)

val waker : unit -> Who.t
(** The calling task, or the thread that calls for nobody; it never suspends,
    and knows less of tasks for that than {!Reach.who}. *)
