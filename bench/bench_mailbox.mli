(** Mailboxes and broadcasts, in which a sender never waits. *)

val comparisons : Case.comparison list

(** {2 For the same rows of other libraries} *)

val mailbox :
  Host.shape ->
  send:(int -> int -> unit) ->
  receive:(int -> int) ->
  wait_for_answer:(unit -> unit) ->
  answer:(unit -> unit) ->
  int ->
  float
(** [send after n] sends the [n] numbers that follow [after]. [receive n] is the
    sum of [n] received numbers. The other two functions keep the sender from
    running too far ahead. *)

val broadcast :
  Host.t ->
  yield:(unit -> unit) ->
  send:(int -> unit) ->
  subscribe:(unit -> unit -> int) ->
  int ->
  float
(** [subscribe ()] is called in the first task, before the first message, and
    returns a function that receives a number. *)
