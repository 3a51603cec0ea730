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

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    See also the pages on {{!/concord/lwt}Lwt} and {{!/concord/picos}Picos}. *)

type t
(** A barrier. *)

val create : ?name:string -> int -> t
(** [create n] returns a barrier for groups of [n]. Reports call it by its
    [name], and say how many tasks are missing.

    - {b Raises} [Invalid_argument] if [n] is less than 1. *)

val await : t -> unit
(** [await t] waits until [n] tasks have arrived, and then all of them continue.

    - {b Suspends} until the last of [n] tasks arrives, which doesn't suspend.
    - {b Cancelled} while suspended, the task has not arrived, so another one
      has to take its place. But a cancelled task counts until it is unwound. If
      the last task arrives before then, the others go through without the
      cancelled one. Once the group has gone through, all of its other tasks
      return normally, even if they are cancelled immediately afterwards.
    - {b Order}: groups form in the order in which tasks arrived, and the tasks
      of a group continue in this order. In a program with several domains, a
      task spins before it sleeps. If the last task then arrives on another
      domain, a spinning task continues before the sleeping ones of its
      scheduler.
    - {b Cost}: O(1), but O(n) for the last task. If tasks were cancelled, it
      may be O(n) for others too. Cancelling a wait takes amortised O(1) time.

    If [n] is 2, a task never goes through alone. The last one then asks the
    other, and waits if the other is cancelled, even if it isn't unwound yet. *)

val await_evt : t -> unit Event.t
(** [await_evt t] is the event of {!await}.

    The task counts as arrived while it waits for the event. If a choice
    performs another alternative, the task leaves the barrier at once. But if
    the last task arrives just at this moment, the others may go through without
    it, as if it were cancelled. If a task tries again after a timeout, its
    group may have gone through already. The task counts only once, even if the
    barrier is in the choice several times.

    - {b Cost}: as {!await}, and O(k) more in a choice of [k] alternatives. *)

val parties : t -> int
(** [parties t] is the number given to {!create}. *)

val waiters : t -> int
(** [waiters t] is the number of tasks that have arrived and are waiting.

    - {b Cost}: O(n) for [n] tasks. *)
