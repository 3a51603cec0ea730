(* [t], the only Atomic here

   State         Left by           To            By whom
   Unlocked      lock            * Locked        any task
   Locked        unlock          * Unlocked      the owner
                 a waiter          Queue [w]     the task that waits
   Queue ws      a waiter          Queue (ws, w) the task that waits
                 cancelled waiter  Queue (ws - w), or Locked
                                                 the task that enlisted w
                 unlock, ws = w::_ Queue (ws - w), or Locked
                                                 the owner; it calls w

   * linearises the operation of the task that does it. A lock that waited linearises
   when its resumer answers [true]: the mutex was never unlocked meanwhile, so that
   no task overtakes. If the resumer refuses, the owner unlocks again.

   A mutex that is made while waits are kept is always [Watched], so that it costs the
   others nothing. It goes through the same states: *)

(* Watched (owner, waiters)

   State         Left by           To            By whom
   None, []      lock            * Some a, []    any task, a
                 an attempt in   * given, []     for the task that waits, outside of it:
                 [block]                         there it cannot say who it is
   owner, ws     a waiter          owner, (ws, w)   the task that waits
                 cancelled waiter  owner, (ws - w)  the task that enlisted w
                 unlock, ws = []   * None, []    the owner
                 unlock, ws = w::_ given, (ws - w)
                                                 the owner; it calls w
   given, ws     note              Some a, ws    a, which was given it, when it goes on
                 any of the above                after a misuse: another task unlocks

   [note] changes nothing in any other state: the mutex may have been unlocked by another
   task before. If the resumer refuses or raises, [given] stays, for the next hand-over or
   unlock. *)
type state =
  | Unlocked
  | Locked
  | Queue of (unit, unit) Waiters.t
  | Watched of { owner : Waits.holder option; waiters : (unit, unit) Waiters.t }

type t = state Atomic.t

let owners t () =
  match Atomic.get t with
  | Watched { owner; _ } -> Option.to_list owner
  | Unlocked | Locked | Queue _ -> []

let create_watched () =
  let t = Atomic.make (Watched { owner = None; waiters = Waiters.empty }) in
  Labels.made ~kind:"mutex" ~holders:(owners t) t

let create () =
  if Waits.are_kept () then create_watched () else Atomic.make Unlocked

let locked waiters = if Waiters.is_empty waiters then Locked else Queue waiters

(* Until the task goes on that was given the mutex. Compared by address. *)
let given = Some Labels.given

(* --- Passing it on --------------------------------------------------------- *)

(* [false] if it was not locked. If [resume] does not raise, an exception means that the
   mutex was not passed on. *)
let rec hand_over resume t =
  match Atomic.get t with
  | Unlocked | Watched { owner = None; _ } -> false
  | Locked ->
      if Atomic.compare_and_set t Locked Unlocked then true
      else (* a waiter came *) hand_over resume t
  | Queue waiters as before ->
      let w = Waiters.head waiters in
      let after = locked (Waiters.tail waiters) in
      if Atomic.compare_and_set t before after && resume w then true
      else (* a waiter came or withdrew; or [w] refused *) hand_over resume t
  | Watched { waiters; _ } as before when Waiters.is_empty waiters ->
      let after = Watched { owner = None; waiters } in
      if Atomic.compare_and_set t before after then true
      else (* a waiter came, or the owner was noted *) hand_over resume t
  | Watched { waiters; _ } as before ->
      let w = Waiters.head waiters in
      let after = Watched { owner = given; waiters = Waiters.tail waiters } in
      if Atomic.compare_and_set t before after && resume w then true
      else (* as above; or [w] refused *) hand_over resume t

(* Not a last call: the compiler would put a poll before it. *)
let resume w = Sys.opaque_identity (Waiter.resume w (Ok ()))

(* --- Those who wait ---------------------------------------------------------- *)

let rec enlist t w =
  match Atomic.get t with
  | Unlocked | Watched { owner = None; _ } -> false
  | Locked ->
      Atomic.compare_and_set t Locked (Queue (Waiters.push Waiters.empty w))
      ||
      (* unlocked, or another waiter *)
      enlist t w
  | Queue waiters as before ->
      Atomic.compare_and_set t before (Queue (Waiters.push waiters w))
      ||
      (* unlocked, another waiter, or a withdrawal *)
      enlist t w
  | Watched { owner; waiters } as before ->
      let waiters = Waiters.push waiters w in
      Atomic.compare_and_set t before (Watched { owner; waiters })
      ||
      (* any other transition *)
      enlist t w

let withdraw t w =
  Operation.leave t w @@ function
  | (Unlocked | Locked) as state -> state
  | Queue waiters -> locked (Waiters.count_gone waiters)
  | Watched { owner; waiters } ->
      Watched { owner; waiters = Waiters.count_gone waiters }
