(** What never makes a sender wait: mailboxes and broadcasts. *)

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
(** [send after n] sends the [n] numbers that follow [after], and [receive n] is
    the sum of as many that it received. The other two keep the sender from
    running too far ahead. *)

val broadcast :
  Host.t ->
  yield:(unit -> unit) ->
  send:(int -> unit) ->
  subscribe:(unit -> unit -> int) ->
  int ->
  float
(** [subscribe ()] is called in the first task, before anything is sent, and
    gives what receives a number. *)
