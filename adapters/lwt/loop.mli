(** Lwt's loop, and how other threads wake it.

    Lwt has one loop in a process, and its state belongs to the thread that runs
    the loop. What other threads want done there goes through a queue of wakes,
    a {!Concord.Tools.Host_kit.Inbox}, which hooks of Lwt's loop serve. The
    hooks are installed when this module is initialised. *)

(** {2 Whose it is} *)

val name : string
(** Of Lwt as a host: ["lwt"]. *)

val run : (unit -> 'a) -> 'a
(** [run f] is [f ()], in which the calling thread runs Lwt's loop.

    - {b Raises} [Failure] in another [run], of whatever thread. *)

val is_running : unit -> bool
(** Is the calling thread in {!run}? *)

val is_in_turn : unit -> bool
(** Was the calling thread called by Lwt's loop, {!run} or [Lwt_main.run], which
    goes on when it returns? (Not known of what [Lwt_main.at_exit] calls.)
    - {b Cost}: a few nanoseconds, if the answer is [false]. *)

val is_over : unit -> bool
(** Has the calling thread called [exit] in a turn? Then it runs a function of
    [at_exit], and the loop that called it never continues. *)

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
(** [resumer decision promise waker result] decides; [false] if it had been
    decided. Then [promise], which belongs to [waker], is resolved with
    [result outcome] in Lwt's loop, soon, in the order of the calls, unless the
    promise is cancelled before. From any thread. Also does {!end_wait}.

    If it raises what a signal handler raises, then all of it has happened.
    - {b Cost}: O(1). A system call only if the loop may sleep. *)

val post : Jobs.job -> unit
(** {!Jobs.post}, for this loop. *)

(** {2 How many tasks wait for others to wake them}

    If there is one, the loop spins for a moment before it sleeps. So it does
    after a posted job. *)

val begin_wait : unit -> unit
(** One task more waits. *)

val end_wait : unit -> unit
(** One task less. *)

(** {2 Turns} *)

val at_once : int ref
(** How many operations may still be done at once before {!turn} is to be asked.
*)

val turn : unit -> unit Lwt.t option
(** The loop's next turn, if this one has been long enough: some 10 ms, spent in
    operations that did not wait. [None] also if another thread runs the loop.

    - {b Raises} [Invalid_argument] in a task of another scheduler, if
      [CONCORD_DEBUG] is [strict]. *)
