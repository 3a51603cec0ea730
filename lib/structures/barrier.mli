(** A meeting point where a fixed number of tasks wait for each other, again and
    again.

    {b Stability}: stable.

    Use a barrier if tasks work in rounds, and no task may begin a round before
    all have finished the previous one. For example, two tasks begin each round
    together:

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

    Operations without a {b Suspends} line never suspend and perform no effect.
    Operations without a {b Cost} line take O(1) time.

    See also the pages on {{!/concord/lwt}Lwt} and {{!/concord/picos}Picos}. *)

type t
(** A barrier. *)

val create : ?name:string -> int -> t
(** [create n] returns a barrier that lets tasks through in groups of [n].
    Reports call it by its [name], and say how many tasks are missing.

    - {b Raises} [Invalid_argument] if [n] is less than 1. *)

val await : t -> unit
(** [await t] waits until [n] tasks have arrived, and then all of them continue.

    - {b Suspends} until the last of [n] tasks arrives. The last one itself
      suspends only if a task of its group turns out to wait no longer.
    - {b Cancelled} while suspended, the task has not arrived, so another one
      has to take its place. Once the group has gone through, all of its tasks
      return normally, even if they are cancelled immediately afterwards.
    - {b Order}: groups form in the order in which tasks arrived, and the tasks
      of a group continue in that order. In a program with several domains, a
      task spins before it sleeps. If the last task then arrives on another
      domain, a spinning task continues before those of its scheduler that are
      asleep.
    - {b Cost}: O(1), but O(n) for the last task. Cancelling a wait takes
      amortised O(1) time.

    The last task asks all others whether they are still waiting. If one of them
    was cancelled, even just now, no task goes through. The tasks that were
    already asked are woken in vain, and wait again in their old positions. So
    does the last task. Tasks that arrive meanwhile wait until this is done. *)

val await_evt : t -> unit Event.t
(** [await_evt t] is the event of {!await}.

    The task counts as arrived while it waits for the event. If a choice
    performs another alternative, the task leaves the barrier as if it were
    cancelled. It counts only once, even if the barrier is in the choice several
    times.

    If the task is woken in vain, the event begins again, and the task arrives
    behind the others. A choice also gets new positions in its other structures,
    but its timeouts keep their deadlines. While the last task asks the others,
    and until each task that was woken in vain has run, {!Concord.Event.poll}
    returns [None], even if enough tasks are waiting.

    - {b Cost}: that of {!await}, and O(k) more in a choice of [k] alternatives.
*)

val parties : t -> int
(** [parties t] is the number given to {!create}. *)

val waiters : t -> int
(** [waiters t] is the number of tasks that have arrived and are waiting. A
    cancelled task counts until it is unwound, or until it refuses to go
    through. *)
