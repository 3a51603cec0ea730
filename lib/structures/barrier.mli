(** A cyclic barrier: a number of tasks wait for each other, again and again.

    {b Stability}: stable.

    For example, two tasks begin each round together:

    {[
      # let barrier = Barrier.create 2
      val barrier : Barrier.t = <abstr>
      # let play name () =
          for round = 1 to 2 do
            Barrier.await barrier;
            Printf.printf "%s: round %d\n" name round
          done
      val play : string -> unit -> unit = <fun>
      # Tasks.iter (fun f -> f ()) [ play "a"; play "b" ]
      b: round 1
      a: round 1
      a: round 2
      b: round 2
      - : unit = ()
    ]}

    An operation without a {b Suspends} line never suspends and performs no
    effect. Without a {b Cost} line it is O(1). *)

type t

val create : ?name:string -> int -> t
(** [create n] lets tasks through [n] at a time. [name] is for reports, which
    say how many tasks are missing.

    - {b Raises} [Invalid_argument] if [n] is less than 1. *)

val await : t -> unit
(** [await t] returns once [n] tasks have called it since the last [n] of them
    went through.

    - {b Suspends} until then. The last task to arrive suspends only if a trial
      fails.
    - {b Cancelled} while suspended: the task has not arrived, and another one
      must take its place. The last task asks all others whether they still
      wait. If one of them was cancelled, even just now, no task goes through:
      the tasks that were asked before it are woken in vain and wait again, in
      their slots, and so does the last task. Once all have accepted, all
      return, even if they are cancelled right after.
    - {b Order}: tasks go on in the order of their arrival, and in groups of [n]
      in that order. A task that comes while others have yet to find that they
      were woken in vain waits for these. In a program of several domains a task
      spins before it sleeps. If the last one arrives on another domain just
      then, the task continues before those of its scheduler that sleep.
    - {b Cost}: O(1), also to withdraw (amortised); O(n) for the last task. *)

val await_evt : t -> unit Event.t
(** The event of {!await}. The task has arrived while it waits for the event; if
    another alternative of a choice is performed, it withdraws, as when it is
    cancelled. It arrives once, however often the barrier is in the choice. The
    cost is that of {!await}, and O(k) more in a choice of [k] alternatives.

    If the task is woken in vain, the event begins again and arrives anew,
    behind the others; a choice takes new slots in its other structures as well,
    and its timeouts keep their deadlines. While the last task asks the others,
    and until each task that was woken in vain has had its turn,
    {!Concord.Event.poll} is [None], although enough others may wait. *)

val parties : t -> int
(** The [n] of {!create}. *)

val waiters : t -> int
(** How many tasks have arrived and wait. One that was cancelled counts until it
    is unwound, or refuses to go through. *)
