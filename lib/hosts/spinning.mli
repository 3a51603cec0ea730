(** A task that spins in its loop before it sleeps.

    Between two domains most of the time goes into waking a loop that sleeps. So
    a task that waits may let the other tasks of its loop run for a while, and
    check after each round whether it was resumed. Its loop does not sleep
    meanwhile. *)

type host = {
  check : unit -> unit;
      (** Raises {!Plugin.Elsewhere}, as [suspend] would, or what the calling
          task is cancelled with. *)
  turn : (exn -> bool) -> unit;
      (** [turn cancel]: the others have their turns. If the calling task is, or
          meanwhile comes to be, cancelled with [e], then [cancel e] is called
          at once, by another task of the loop, and [turn] returns. *)
  suspend :
    'a. cancel:(exn -> bool) -> ('a Concord_suspend.resumer -> 'a option) -> 'a;
      (** As {!Plugin.t.suspend}. But the task is cancelled with [e] only if
          [cancel e]: otherwise it was resumed, and somebody is about to call
          the resumer. *)
}

val suspend : Spin.t -> host -> ('a Concord_suspend.resumer -> 'a option) -> 'a
(** [suspend spin host block] is [host.suspend block]. But if [spin] says so,
    [block] is called by the task, which spins for up to 400 turns. It has at
    least one, whatever [block] gives.

    [spin] is for one loop. One task of it spins at a time. If two did, each
    would have its turns only for the other, and neither would let the loop
    sleep. Spinning was worth it only if another domain resumes the task,
    because what comes from a task of the same loop comes as soon without it. In
    each of the first turns the task spins for some 0.5 us more, because most
    answers are quick, and a turn takes longer than that.

    A signal handler may raise in a task that spins, after it was resumed. Then
    the next suspension in the thread raises that, as {!Park.suspend_thread}
    does. *)

val begin_turns : Spin.t -> int
(** {!Spin.begin_turns}, but raises what a signal handler left, as above. *)

val suspend_spinning :
  Spin.t -> host -> int -> ('a Concord_suspend.resumer -> 'a option) -> 'a
(** [suspend_spinning spin host turns block] is {!suspend} for a task that
    {!begin_turns} has told to spin for so many turns, not 0. *)
