(* A number of permits, and the tasks that wait for some of them. Mutexes, semaphores and
   read-write locks are made of this.

   [t], the only Atomic here, counts the free permits and has two queues of waiting tasks.
   [second] is for tasks that stand aside, [first] for all others. A nudged task is one that
   waits in a sleeping thread, and was woken to try again ({!Nudge}). It doesn't hold its
   permits yet, so they stay free, but they are counted in [promised]. The others are the
   [surplus], which is [free] minus [promised].

   Left by          To                                             By whom
   take           * fewer free                                     any task that comes before all
                                                                   waiters
   take, overtaking
                  * fewer free, one more overtaken                 the same, if a nudged task is on
                                                                   its way: at most [most] times
   give           * more free                                      a holder, which then serves
   give_part      * more free                                      the same, which keeps some
   serve            the first waiter leaves its queue, fewer free  any task, if the surplus is
                                                                   enough; it resumes the waiter
                    the first waiter leaves its queue, more        the same, if the waiter's
                    promised                                       thread sleeps, and more may
                                                                   overtake; it nudges it
   take, returning* fewer free, fewer promised                     the nudged task
   return in vain   fewer promised, the task first in its queue    the nudged task, if too few
                                                                   are free
   give up          fewer promised                                 the nudged task, if it was
                                                                   unwound; it then serves
   refusal          more free, or fewer promised                   the task that resumed the
                                                                   waiter; it serves on
   withdrawal       the waiter leaves its queue                    the task that enlisted it;
                                                                   it then serves

   In addition, tasks that have to wait enter their queue.

   * linearises the operation of the task that does it. A take that waited linearises when its
   resumer answers [true]. Its permits pass directly from one task to the other, so no task
   overtakes it.

   Waiters in [first] come before those in [second], and before newcomers that would wait in
   either queue. After each change that may let the first waiter proceed, the task that made
   the change serves until no waiter can be served. So while tasks wait in [first] and none is
   nudged, no newcomer takes a permit. (A newcomer may take one in the moment in which a task
   still serves those in [second].)

   A task whose thread sleeps doesn't get the permits, because all others would have to wait
   until the thread is awake. Its permits stay free, and other tasks may overtake it until it
   comes.

   A round begins when a task is nudged for the first time, while no nudged task is on its way
   or waits again after it came in vain. These are [outstanding]. [overtaken] counts the tasks
   that have overtaken since the round began, at the time [since]. The round ends when none is
   outstanding. So it is at least as old as the first nudge of each of them, and none is
   overtaken by more tasks, or for longer, than [Nudge.may_overtake] allows. A task that comes
   in vain is pushed to the front of its queue, so it is enough to look at the head.

   [promised] may be too low for a moment, because a task that was not nudged may give up too
   (see [Nudge.give_up]). In that case one waiter more is served, and a nudged task comes in
   vain. [promised] would stay too high only if a nudged task never continued, which clause H3
   of [concord_suspend.mli] excludes. *)
type request = {
  amount : int;
  aside : bool;
  owner : Holders.t;
  nudge : Nudge.t;
}

type waiters = (request, unit) Waiters.t

type rare = {
  promised : int;
  overtaken : int;
  since : int;
  second : waiters;
  known : Holders.t list;
  in_order : bool;
  capacity : int;
}

(* [Free] and [Held] are immediate, so a compare-and-set doesn't mark them for the collector. *)
type state =
  | Free
  | Held
  | State of { free : int; first : waiters; rare : rare }

type t = state Atomic.t

let all = max_int

let request amount =
  { amount; aside = false; owner = Holders.unknown; nudge = Nudge.never }

(* --- States --------------------------------------------------------------- *)

let no_round = -1
let no_capacity = -1

let plain =
  {
    promised = 0;
    overtaken = 0;
    since = no_round;
    second = Waiters.empty;
    known = [];
    in_order = false;
    capacity = no_capacity;
  }

let empty = Waiters.empty
let[@inline] free_of = function Free -> all | Held -> 0 | State s -> s.free
let[@inline] first_of = function Free | Held -> empty | State s -> s.first
let[@inline] rare_of = function Free | Held -> plain | State s -> s.rare

(* The other states at rest with almost no or almost all permits are constant blocks, so the fast
   paths of the callers neither allocate a state nor fetch a new one from another core. *)
let few = 64
let idle free = State { free; first = empty; rare = plain }
let free_but n = if n = 0 then Free else idle (all - n)
let idle_free = Array.init (few + 1) (fun n -> if n = 0 then Held else idle n)
let idle_taken = Array.init (few + 1) free_but
let[@inline] few_free n = Array.unsafe_get idle_free n
let[@inline] few_taken n = Array.unsafe_get idle_taken n

(* Replaces [rare] by the constant [plain] if both mean the same. *)
let rarely rare =
  if
    rare.promised = 0 && rare.since = no_round
    && Waiters.is_empty rare.second
    && List.is_empty rare.known && (not rare.in_order)
    && rare.capacity = no_capacity
  then plain
  else rare

(* Uses the constants where possible, because the fast paths of the callers compare a state
   with them by [==]. If no task waits, and none is on its way, there is no round. *)
let[@inline never] alone free ({ promised; since; second; _ } as rare) =
  let is_over = since <> no_round && promised = 0 && Waiters.is_empty second in
  let ended () = rarely { rare with overtaken = 0; since = no_round } in
  let rare = if is_over then ended () else rare in
  if rare == plain && free <= few then few_free free
  else if rare == plain && all - free <= few then few_taken (all - free)
  else State { free; first = empty; rare }

let[@inline] state free first rare =
  if Waiters.is_empty first then alone free rare
  else State { free; first; rare }

let make ?(in_order = false) ?(capacity = no_capacity) free =
  Atomic.make (alone free (rarely { plain with in_order; capacity }))

(* --- Steps ---------------------------------------------------------------- *)

(* The nudged task of [request] is no longer on its way. *)
let less_promised request rare =
  if rare.promised = 0 then rare
  else
    let promised = Int.max 0 (rare.promised - request.amount) in
    rarely { rare with promised }

let and_known request rare =
  if request.owner == Holders.unknown then rare
  else { rare with known = request.owner :: rare.known }

(* A task that has taken all permits is the only holder. *)
let without_known request rare =
  if List.is_empty rare.known then rare
  else if request.amount = all then rarely { rare with known = [] }
  else
    let known = Holders.without request.owner rare.known in
    rarely { rare with known }

let entered request s rare =
  state (free_of s - request.amount) (first_of s) (and_known request rare)

let may_overtake { overtaken; since; _ } = Nudge.may_overtake ~overtaken ~since

(* Three kinds of tasks may take: a nudged task, because the promised permits are kept for it,
   a task that comes before all waiters, and a task that overtakes a nudged one. *)
let take request s : _ Step.t =
  let rare = rare_of s and free = free_of s in
  if request.amount > free then Wait
  else if Nudge.is_over request.nudge then
    Return (entered request s (less_promised request rare), ())
  else if first_of s == empty && request.amount <= free - rare.promised then
    Return (entered request s rare, ())
  else if rare.promised > 0 && may_overtake rare then
    let rare = { rare with overtaken = rare.overtaken + 1 } in
    Return (entered request s rare, ())
  else Wait

(* Has the first waiter come in vain? Withdrawn ones may still be before it. *)
let rec first_over waiters =
  (not (Waiters.is_empty waiters))
  &&
  let w = Waiters.head waiters in
  if Waiter.is_live w then Nudge.is_over w.arg.nudge
  else first_over (Waiters.tail waiters)

(* [request] is that of the first waiter. *)
let is_within_round request rare =
  rare.since <> no_round
  && (rare.promised > 0 || Nudge.is_over request.nudge || first_over rare.second)

let is_to_be_nudged request rare =
  Nudge.is_due request.nudge && (not rare.in_order)
  && ((not (is_within_round request rare)) || may_overtake rare)

let nudged request rare =
  let promised = rare.promised + request.amount in
  if is_within_round request rare then { rare with promised }
  else { rare with promised; overtaken = 0; since = Nudge.now_ns () }

(* The permits of [request] are free again. By a program's mistake they may be given back twice,
   while they are handed over, so [all] bounds them. *)
let freed request s =
  let rare = without_known request (rare_of s) and free = free_of s in
  state (free + Int.min request.amount (all - free)) (first_of s) rare

(* Is the head, which wants [amount], served alone? A task behind it that wants no permits is
   served with it. If the next waiter has withdrawn, [serve] looks at those behind. *)
let[@inline] is_alone waiters amount =
  amount = all
  ||
  let rest = Waiters.tail waiters in
  Waiters.is_empty rest
  ||
  let next = Waiters.head rest in
  Waiter.is_live next && next.arg.amount > 0

(* The state after [give], if that only passes the permits on. Otherwise it is [s]. *)
let passed request s =
  match s with
  | State { free = 0; first; rare } when rare == plain && first != empty ->
      let { amount; owner; nudge; _ } = (Waiters.head first).arg in
      let is_alike = amount = request.amount && owner == Holders.unknown in
      if is_alike && is_alone first amount && not (Nudge.is_due nudge) then
        state 0 (Waiters.tail first) plain
      else s
  | Free | Held | State _ -> s

let rec serve s : _ Step.t =
  let first = first_of s and rare = rare_of s in
  if first != empty then serve_head s first (Waiters.tail first) rare
  else if not (Waiters.is_empty rare.second) then
    let second = Waiters.tail rare.second in
    serve_head s rare.second first (rarely { rare with second })
  else Return (s, ())

(* [first] and [rare] belong to the state without the head of [waiters]. *)
and serve_head s waiters first rare =
  let w = Waiters.head waiters in
  let free = free_of s in
  let amount = w.arg.amount and surplus = free - rare.promised in
  if not (Waiter.is_live w) then
    (* a withdrawn waiter must not block those behind it *)
    Become (state free first rare, then_serve)
  else if amount > surplus then Return (s, ())
  else if is_to_be_nudged w.arg rare then
    Hand_over
      {
        state = state free first (nudged w.arg rare);
        waiter = w;
        outcome = Nudge.outcome;
        accepted = then_serve;
        refused = Then (give_up w.arg);
      }
  else
    Hand_over
      {
        state = state (free - amount) first (and_known w.arg rare);
        waiter = w;
        outcome = Ok ();
        accepted = then_serve;
        refused = Then (give w.arg);
      }

(* Usually the first waiter asks for exactly what is given, and no other permit is free. Then
   the permits pass to the waiter in one change. If the waiter refuses, nothing was given yet,
   so the step starts again. That is correct only if the first attempt has left the known
   holders as a repeated one needs them: all permits are given, or no holder is known. *)
and give request s : _ Step.t =
  let state = passed request s in
  if state != s then hand_to (Waiters.head (first_of s)) state
  else give_and_serve request s

and[@inline never] give_and_serve request s : _ Step.t =
  let first = first_of s and free = free_of s in
  if Waiters.is_empty first then serve (freed request s)
  else
    let w = Waiters.head first and rare = without_known request (rare_of s) in
    if
      w.arg.amount = request.amount
      && free = rare.promised
      && (request.amount = all
         || (w.arg.owner == Holders.unknown && rare == rare_of s))
      && Waiter.is_live w
      && is_alone first request.amount
      && not (is_to_be_nudged w.arg rare)
    then hand_to w (state free (Waiters.tail first) (and_known w.arg rare))
    else serve (freed request s)

and hand_to waiter state : _ Step.t =
  let accepted = Step.finished and refused = Step.Again in
  Hand_over { state; waiter; outcome = Ok (); accepted; refused }

and give_part amount s : _ Step.t =
  serve (state (free_of s + amount) (first_of s) (rare_of s))

and give_up request s : _ Step.t =
  serve (state (free_of s) (first_of s) (less_promised request (rare_of s)))

and then_serve = Step.Then serve

(* --- The waiters ---------------------------------------------------------- *)

let queue_in change (w : (request, unit) Waiter.t) s rare =
  if w.arg.aside then
    let rare = rarely { rare with second = change rare.second w } in
    state (free_of s) (first_of s) rare
  else state (free_of s) (change (first_of s) w) rare

let queue change w s = queue_in change w s (rare_of s)

(* The nudged task came in vain, and waits again, so [promised] no longer counts it. *)
let queue_first (w : (request, unit) Waiter.t) s =
  queue_in Waiters.push_first w s (less_promised w.arg (rare_of s))

type 't waiting = ('t, request, unit) Nudge.waiting

let waiting ?(left = then_serve) word (operation : _ Operation.t) : _ waiting =
  let attempt t request = Step.attempt (word t) take request
  and enlist t w = Step.enlist (word t) take (fun _ -> queue_first) w
  and withdraw t w = Step.withdraw (word t) queue left w in
  let how = Operation.By_steps { word; step = take; queue; left } in
  let undo t request () =
    Step.surely (word t) give request;
    true
  in
  {
    operation = { operation with how; undo };
    how_again = By_hand { attempt; enlist; withdraw };
    of_arg = (fun request -> request.nudge);
    with_arg = (fun request nudge -> { request with nudge });
    give_up =
      (fun t request ->
        Sys.opaque_identity (Step.surely (word t) give_up request));
  }

let waiters t =
  let s = Atomic.get t in
  Waiters.length (first_of s) + Waiters.length (rare_of s).second
