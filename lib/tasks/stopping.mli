(** Waiting for work of another library that can be told to stop. *)

val await :
  ?start:(unit -> unit) ->
  'a Promise.t ->
  stop:(unit -> unit) ->
  is_answer:(('a, exn) result -> bool) ->
  'a
(** [await ~start promise ~stop ~is_answer] calls [start ()], and is then
    {!Promise.await}. If the caller is cancelled, it calls [stop ()] and then
    waits, protected, until [promise] is resolved. If its outcome is an answer
    of the work itself, [await] returns or raises that, and the host raises its
    exception where the task waits next. Otherwise [await] raises the host's
    exception. An exception of a signal handler is raised in any case, after the
    same wait, also if it is raised in [start]. So [stop] has to resolve
    [promise] even if [start] has done nothing. *)
