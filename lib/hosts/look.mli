(** A task that looks whether it was resumed, before it sleeps.

    Between two domains most of the time goes into waking a loop that sleeps. So
    a task that waits may let the others of its loop have their turns for a
    while, and look after each round: its loop does not sleep meanwhile. *)

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
    [block] is called by the task, which looks for up to 400 turns. It has at
    least one, whatever [block] gives.

    [spin] is for one loop. One task of it looks at a time: with two, each would
    have its turns only for the other, and neither would let the loop sleep. A
    look was worth it only if the task is resumed by another domain: what comes
    from a task of the same loop comes as soon if the loop does not look. In
    each of the first turns it looks for some 0.5 us more, as most answers are
    quick, and a turn takes longer than a look.

    A signal handler may raise in a task that looks, after it was resumed. Then
    the next suspension in the thread raises that, as {!Park.suspend_thread}
    does. *)

val begin_turns : Spin.t -> int
(** {!Spin.begin_turns}, but raises what a signal handler left, as above. *)

val suspend_looking :
  Spin.t -> host -> int -> ('a Concord_suspend.resumer -> 'a option) -> 'a
(** [suspend_looking spin host turns block] is {!suspend} for a task that
    {!begin_turns} has told to look for so many turns, not 0. *)
