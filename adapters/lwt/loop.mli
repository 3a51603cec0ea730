(** Lwt's loop, and how other threads wake it.

    Lwt has one loop in a process, and its state belongs to the thread that runs
    the loop. Requests of other threads go through a queue of wakes, a
    {!Concord.Tools.Host_kit.Inbox}, which hooks of Lwt's loop serve. The hooks
    are installed when this module is initialised. *)

(** {2 The thread that runs it} *)

val name : string
(** The name of Lwt as a host, which is ["lwt"]. *)

val run : (unit -> 'a) -> 'a
(** [run f] is [f ()], in which the calling thread runs Lwt's loop.

    - {b Raises} [Failure] in another [run], of whatever thread. *)

val is_owner : unit -> bool
(** [true] if the calling thread may touch Lwt's state, because it runs a loop
    of Lwt, or was the last thread to use Lwt. *)

val is_running : unit -> bool
(** [true] if the calling thread is in {!run}. *)

val is_in_turn : unit -> bool
(** [true] if Lwt's loop, {!run} or [Lwt_main.run], has called the calling
    thread, and continues when it returns. (This is not known in functions that
    [Lwt_main.at_exit] calls.)

    - {b Cost}: a few nanoseconds, if the answer is [false]. *)

val is_over : unit -> bool
(** [true] if the calling thread has called [exit] in a turn. Then it runs a
    function of [at_exit], and the loop that called it never continues. *)

val enter : unit -> unit
(** The calling thread is going to touch Lwt's state.

    - {b Raises} [Invalid_argument] if another thread runs Lwt's loop. *)

(** {2 Waking} *)

val resumer :
  'a Concord.Tools.Host_kit.Decision.t ->
  'b Lwt.t ->
  'b Lwt.u ->
  (('a, exn) result -> ('b, exn) result) ->
  'a Concord.Tools.Suspend.resumer
(** [resumer decision promise waker result] decides. It is [false] if the wait
    had been decided. Then [promise], which belongs to [waker], is resolved with
    [result outcome] in Lwt's loop, soon, in the order of the calls, unless the
    promise is cancelled before. Any thread may call it.

    Unbroken: if it raises, all of it has happened.

    - {b Cost}: O(1). It needs a system call only if the loop may sleep. *)

val post : Jobs.job -> unit
(** {!Jobs.post}, for this loop. *)

(** {2 Turns} *)

val at_once : int ref
(** The number of operations that may still be performed at once before {!turn}
    has to be asked. *)

val turn : unit -> unit Lwt.t option
(** [turn ()] is the loop's next turn, if this one has been long enough. That is
    some 10 ms, spent in operations that did not wait. It is also [None] if
    another thread runs the loop. *)

val check_host : unit -> unit
(** - {b Raises} [Invalid_argument] in a task of another scheduler, outside of
      Lwt's turns. *)
