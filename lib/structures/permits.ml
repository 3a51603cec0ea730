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
   give_part      * more free                                      a holder, which keeps some; it
                                                                   then serves
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
      (** The number of permits at first, if holders were known then, or
          [no_capacity]. *)
}

type state = { free : int; first : waiters; rare : rare }
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

(* The states without waiters, holders and promises are constants, if the number of permits
   is close to 0 or to [all]. So the fast paths of the callers neither allocate a state nor
   fetch a new one from another core. *)
let few = 64
let idle free = { free; first = Waiters.empty; rare = plain }
let idle_free = Array.init (few + 1) idle
let idle_taken = Array.init (few + 1) (fun taken -> idle (all - taken))
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

(* If no task waits, and none is on its way, there is no round. *)
let[@inline never] at_rest rare =
  if rare.since <> no_round && rare.promised = 0 && Waiters.is_empty rare.second
  then rarely { rare with overtaken = 0; since = no_round }
  else rare

(* Uses the constants where possible, because the fast paths of the callers compare a state
   with them by [==]. *)
let state free first rare =
  let rare =
    if rare != plain && Waiters.is_empty first then at_rest rare else rare
  in
  if not (rare == plain && Waiters.is_empty first) then { free; first; rare }
  else if free <= few then few_free free
  else if all - free <= few then few_taken (all - free)
  else idle free

(* The same without a call, if a task waits. *)
let[@inline] with_first free first rare =
  if Waiters.is_empty first then state free first rare
  else { free; first; rare }

let make ?(in_order = false) ?(capacity = no_capacity) free =
  Atomic.make
    (state free Waiters.empty (rarely { plain with in_order; capacity }))

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
  else
    let known =
      if request.amount = all then []
      else Holders.without request.owner rare.known
    in
    rarely { rare with known }

let are_unknown request rare =
  List.is_empty rare.known && request.owner == Holders.unknown

let entered request s rare =
  state (s.free - request.amount) s.first (and_known request rare)

let may_overtake { overtaken; since; _ } = Nudge.may_overtake ~overtaken ~since

(* Three kinds of tasks may take: a nudged task, because the promised permits are kept for it,
   a task that comes before all waiters, and a task that overtakes a nudged one. *)
let take request s : _ Step.t =
  let rare = s.rare in
  if request.amount > s.free then Wait
  else if Nudge.is_over request.nudge then
    Return (entered request s (less_promised request rare), ())
  else if Waiters.is_empty s.first && request.amount <= s.free - rare.promised
  then Return (entered request s rare, ())
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

(* The state in which the permits of [request] are free again. *)
let freed request s =
  state (s.free + request.amount) s.first (without_known request s.rare)

(* The state after [give], if that only passes the permits on. Otherwise it is [s]. *)
let passed request s =
  if s.rare == plain && s.free = 0 && not (Waiters.is_empty s.first) then
    let w = Waiters.head s.first in
    if
      w.arg.amount = request.amount
      && w.arg.owner == Holders.unknown
      && not (Nudge.is_due w.arg.nudge)
    then with_first 0 (Waiters.tail s.first) plain
    else s
  else s

let rec serve s : _ Step.t =
  if not (Waiters.is_empty s.first) then
    serve_head s s.first (Waiters.tail s.first) s.rare
  else if not (Waiters.is_empty s.rare.second) then
    let second = Waiters.tail s.rare.second in
    serve_head s s.rare.second s.first (rarely { s.rare with second })
  else Return (s, ())

(* [first] and [rare] belong to the state without the head of [waiters]. *)
and serve_head s waiters first rare =
  let w = Waiters.head waiters in
  let amount = w.arg.amount and surplus = s.free - rare.promised in
  if not (Waiter.is_live w) then
    (* a withdrawn waiter must not block those behind it *)
    Become (state s.free first rare, then_serve)
  else if amount > surplus then Return (s, ())
  else if is_to_be_nudged w.arg rare then
    Hand_over
      {
        state = state s.free first (nudged w.arg rare);
        waiter = w;
        outcome = Nudge.outcome;
        accepted = then_serve;
        refused = Then (give_up w.arg);
      }
  else
    Hand_over
      {
        state = state (s.free - amount) first (and_known w.arg rare);
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
  if state != s then hand_to (Waiters.head s.first) state
  else give_and_serve request s

and[@inline never] give_and_serve request s : _ Step.t =
  if Waiters.is_empty s.first then serve (freed request s)
  else
    let w = Waiters.head s.first and rare = without_known request s.rare in
    if
      w.arg.amount = request.amount
      && s.free = rare.promised
      && (request.amount = all || are_unknown w.arg s.rare)
      && Waiter.is_live w
      && not (is_to_be_nudged w.arg rare)
    then hand_to w (state s.free (Waiters.tail s.first) (and_known w.arg rare))
    else serve (freed request s)

and hand_to waiter state : _ Step.t =
  let accepted = Step.finished and refused = Step.Again in
  Hand_over { state; waiter; outcome = Ok (); accepted; refused }

and give_part amount s : _ Step.t =
  serve (state (s.free + amount) s.first s.rare)

and give_up request s : _ Step.t =
  serve (state s.free s.first (less_promised request s.rare))

and then_serve = Step.Then serve

(* --- The waiters ---------------------------------------------------------- *)

let queue change (w : (request, unit) Waiter.t) { free; first; rare } =
  if w.arg.aside then
    state free first (rarely { rare with second = change rare.second w })
  else with_first free (change first w) rare

(* The task was nudged, but comes in vain. It waits again, so it is no longer counted in
   [promised]. *)
let queue_first (w : (request, unit) Waiter.t) s =
  queue Waiters.push_first w { s with rare = less_promised w.arg s.rare }

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
  Waiters.length s.first + Waiters.length s.rare.second
