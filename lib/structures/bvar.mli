(** Broadcast variable: a condition that carries a value, and needs no mutex.

    {b Stability}: stable.

    Lwt's [Lwt_condition] and Async's [Bvar], for tasks of any hosts. A value is
    for those who wait just then: it is not kept for who comes later. (What is
    kept is a {!Promise}, an {!Mvar} or a {!Broadcast}.)

    An operation without a {b Suspends} line never suspends and performs no
    effect: signal handlers, finalisers and callbacks may use it. Without a
    {b Cost} line it is O(1).

    {[
      # let news : string Bvar.t = Bvar.create ()
      val news : string Bvar.t = <abstr>
      # let reader = Domain.spawn (fun () -> Bvar.wait news)
      val reader : string Domain.t = <abstr>
      # while Bvar.waiters news = 0 do Domain.cpu_relax () done;
        Bvar.broadcast news "it rains"; Domain.join reader
      - : string = "it rains"
    ]} *)

type 'a t
(** A variable for values of type ['a]. *)

val create : ?name:string -> unit -> 'a t
(** A variable for which no task waits. [name] is for reports. *)

val wait : 'a t -> 'a
(** [wait t] is the next value that {!broadcast} or {!signal} gives to the
    calling task.

    - {b Suspends}, always.
    - {b Cancelled} while suspended: it has consumed no signal. A task that was
      given a value returns it, even if it is cancelled right after.
    - {b Order}: that of arrival.
    - {b Cost}: O(1), also to withdraw (amortised).
    - {b Raises} [e] if {!broadcast_exn} gives [e]. *)

val signal : 'a t -> 'a -> bool
(** [signal t v] gives [v] to the task that has waited longest. [false] if none
    waits: then [v] is given to nobody. *)

val broadcast : 'a t -> 'a -> unit
(** [broadcast t v] gives [v] to all tasks that wait, in the order of their
    arrival. O(n) for [n] tasks. *)

val broadcast_exn : 'a t -> exn -> unit
(** As {!broadcast}, but their {!wait} raises the exception. *)

val wait_evt : 'a t -> 'a Event.t
(** The event of {!wait}. To give it a value is to choose it: who signals goes
    on to the next task if another alternative was chosen. A choice begins to
    wait for it after its other alternatives; one that also waits for a
    {!Barrier}, or by {!Condition.loop_no_mutex_evt}, may miss a value, if that
    woke it in vain. {!Concord.Event.poll} never performs it. *)

val waiters : 'a t -> int
(** How many tasks wait, for diagnosis. One that was cancelled counts until it
    is unwound. *)

(**/**)

val signal_step :
  'a -> (unit, 'a) Waiters.t -> ((unit, 'a) Waiters.t, bool) Step.t

val broadcast_step :
  ('a, exn) result ->
  (unit, 'a) Waiters.t ->
  ((unit, 'a) Waiters.t, unit) Step.t

val queue : ((unit, 'a) Waiters.t, unit, 'a) Step.queue
val waiting : ((unit, 'a) Waiters.t Atomic.t, unit, 'a) Operation.t
