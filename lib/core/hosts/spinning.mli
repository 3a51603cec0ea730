(** A task that spins in its loop before it sleeps.

    A message between two domains spends most of its time in waking a loop that
    sleeps. So a task that waits may let the other tasks of its loop run for a
    while, and check after each round whether it was resumed. Its loop does not
    sleep meanwhile. *)

type host = {
  check : unit -> unit;
  turn : (exn -> bool) -> unit;
  suspend :
    'a. cancel:(exn -> bool) -> ('a Concord_suspend.resumer -> 'a option) -> 'a;
}
(** {!Concord.Tools.Host_kit.spinning}. *)

val suspend : Spin.t -> host -> ('a Concord_suspend.resumer -> 'a option) -> 'a
(** [suspend spin host block] is [host.suspend block], except that the task may
    spin first. If [spin] says so, the task calls [block], and spins for up to
    400 turns. It has at least one turn, whatever [block] returns.

    [spin] is for one loop. One task of it spins at a time. If two did, each
    would have its turns only for the other, and neither would let the loop
    sleep. Spinning was worth it only if another domain resumes the task,
    because a resumption by a task of the same loop comes as soon without it. In
    each of the first turns the task spins for some 0.5 us more, because most
    answers are quick, and a turn takes longer than that.

    If an exception comes in a task that spins, after it was resumed, the next
    suspension in the thread raises it, as {!Park.suspend_thread} does. *)

val begin_turns : Spin.t -> int
(** [begin_turns spin] is {!Spin.begin_turns}, except that it raises the
    exception that was left, as above. *)

val suspend_spinning :
  Spin.t -> host -> int -> ('a Concord_suspend.resumer -> 'a option) -> 'a
(** [suspend_spinning spin host turns block] is {!suspend} for a task that
    should spin for [turns] turns, by the answer of {!begin_turns}. [turns] is
    not 0. *)
