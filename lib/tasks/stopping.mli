(** Waiting for work of another library, which can be told to stop. *)

val await :
  ?start:(unit -> unit) ->
  'a Promise.t ->
  stop:(unit -> unit) ->
  is_answer:(('a, exn) result -> bool) ->
  'a
(** [await ~start promise ~stop ~is_answer] calls [start ()], and then waits for
    [promise].

    If the caller is cancelled, it calls [stop ()], and then waits, protected,
    until [promise] is resolved. If [is_answer outcome] is [true], the outcome
    is an answer of the work itself. In this case, [await] returns or raises it,
    and the task's next wait raises the host's exception. Otherwise [await]
    raises the host's exception.

    If [start] raises, [await] raises its exception after the same wait.
    Therefore [stop] has to resolve [promise] even if [start] has done nothing.
*)

val call :
  cancelled:exn ->
  is_answer:(('a, exn) result -> bool) ->
  post:('a Promise.t -> begins:(unit -> bool) -> unit) ->
  cancel:(unit -> unit) ->
  'a
(** [call ~cancelled ~is_answer ~post ~cancel] is {!await} for a function called
    by another loop. [post promise ~begins] hands it to the loop, which calls it
    only if [begins ()] is [true], and then resolves [promise].

    If the caller is cancelled, the function doesn't begin, or [cancel ()] is
    called, which makes the loop cancel it. *)
