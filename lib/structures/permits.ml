(* [t], the only Atomic here. [surplus] is free - promised.

   Left by          To                                             By whom
   take           * fewer free                                     any task that none precedes
   take, overtaking
                  * fewer free, one more overtaken                 the same, if tasks were
                                                                   nudged: at most [most] times
   give           * more free                                      who has them; then it serves
   give_part      * more free                                      the same, and keeps some
   serve            the first waiter out of its queue, fewer free  anyone, if the surplus is
                                                                   enough; it calls the waiter
                    the first waiter out of its queue, more        the same, if the waiter's
                    promised                                       thread sleeps; it nudges it
   take, returning* fewer free, fewer promised                     the nudged task
   return in vain   fewer promised, the task first in its queue    the nudged task, if too few
                                                                   are free
   give up          fewer promised                                 the nudged task, if it was
                                                                   interrupted; then it serves
   refused waiter   more free, or fewer promised                   the task that called it;
                                                                   it serves on
   withdrawn waiter out of its queue                               the task that enlisted it;
                                                                   then it serves

   and waiters come to their queue.

   * linearises the operation of the task that does it. A take that waited linearises when
   its resumer answers [true]: its permits passed from one task to the other, so that no
   task overtakes.

   The waiters in [first] precede those in [second], and newcomers that would wait in either.
   A task that changes the state so that the first waiter could be served serves until no
   waiter can be. So while tasks wait and none is nudged, no newcomer takes a permit.

   A task whose thread sleeps is not given the permits, but nudged ({!Nudge}): they stay
   free, and others may overtake it until it comes.

   [promised] may be too low for a moment, after a task gave up that was not nudged. Then a
   waiter more is served, and a nudged task comes in vain. It is too high only if a nudged task
   never goes on, which its host has promised (H3). *)
type request = {
  amount : int;
  aside : bool;
  owner : Holders.t;
  comes : Nudge.t;
}

type waiters = (request, unit) Waiters.t

type rare = {
  promised : int;
  overtaken : int;
  second : waiters;
  known : Holders.t list;
  in_order : bool;
}

type state = { free : int; first : waiters; rare : rare }
type t = state Atomic.t

let all = max_int

let request amount =
  { amount; aside = false; owner = Holders.unknown; comes = Nudge.never }

(* --- States ------------------------------------------------------------------ *)

let plain =
  {
    promised = 0;
    overtaken = 0;
    second = Waiters.empty;
    known = [];
    in_order = false;
  }

let few = 64
let idle free = { free; first = Waiters.empty; rare = plain }
let idle_free = Array.init (few + 1) idle
let idle_taken = Array.init (few + 1) (fun taken -> idle (all - taken))
let[@inline] few_free n = Array.unsafe_get idle_free n
let[@inline] few_taken n = Array.unsafe_get idle_taken n

(* With the constants in their places. *)
let state free first rare =
  if not (rare == plain && Waiters.is_empty first) then { free; first; rare }
  else if free <= few then few_free free
  else if all - free <= few then few_taken (all - free)
  else idle free

let rarely rare =
  if
    rare.promised = 0
    && Waiters.is_empty rare.second
    && List.is_empty rare.known && not rare.in_order
  then plain
  else rare

let make ?(in_order = false) free =
  Atomic.make (state free Waiters.empty (rarely { plain with in_order }))

(* --- Steps ------------------------------------------------------------------ *)

let less_promised request rare =
  if rare.promised = 0 then rare
  else
    let promised = Int.max 0 (rare.promised - request.amount) in
    let overtaken = if promised = 0 then 0 else rare.overtaken in
    rarely { rare with promised; overtaken }

let and_known request rare =
  if request.owner == Holders.unknown then rare
  else { rare with known = request.owner :: rare.known }

(* Who has taken all is the only holder. *)
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

let take request s : _ Step.t =
  let rare = s.rare in
  if request.amount > s.free then Wait
  else if Nudge.is_over request.comes then
    Return (entered request s (less_promised request rare), ())
  else if Waiters.is_empty s.first && request.amount <= s.free - rare.promised
  then Return (entered request s rare, ())
  else if rare.promised > 0 && rare.overtaken < Nudge.most then
    let rare = { rare with overtaken = rare.overtaken + 1 } in
    Return (entered request s rare, ())
  else Wait

let is_to_be_nudged request rare =
  Nudge.is_due request.comes && not rare.in_order

let left request s =
  state (s.free + request.amount) s.first (without_known request s.rare)

let rec serve s : _ Step.t =
  if not (Waiters.is_empty s.first) then
    serve_head s s.first (Waiters.tail s.first) s.rare
  else if not (Waiters.is_empty s.rare.second) then
    let second = Waiters.tail s.rare.second in
    serve_head s s.rare.second s.first (rarely { s.rare with second })
  else Return (s, ())

(* [first] and [rare] are those of the state without the head of [waiters]. *)
and serve_head s waiters first rare =
  let w = Waiters.head waiters in
  let amount = w.arg.amount and surplus = s.free - rare.promised in
  if not (Waiter.is_live w) then Become (state s.free first rare, then_serve)
  else if amount > surplus then Return (s, ())
  else if is_to_be_nudged w.arg rare then
    let rare = { rare with promised = rare.promised + amount } in
    Hand_over
      {
        state = state s.free first rare;
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

(* Most often the first waiter asks for what is given, and nothing else is free. If it
   refuses, nothing was given yet. *)
and give request s : _ Step.t =
  if Waiters.is_empty s.first then serve (left request s)
  else
    let w = Waiters.head s.first and rare = without_known request s.rare in
    if
      w.arg.amount = request.amount
      && s.free = rare.promised
      && (request.amount = all || are_unknown w.arg s.rare)
      && Waiter.is_live w
      && not (is_to_be_nudged w.arg rare)
    then
      Hand_over
        {
          state = state s.free (Waiters.tail s.first) (and_known w.arg rare);
          waiter = w;
          outcome = Ok ();
          accepted = Step.finished;
          refused = Again;
        }
    else serve (left request s)

and give_part amount s : _ Step.t =
  serve (state (s.free + amount) s.first s.rare)

and give_up request s : _ Step.t =
  serve (state s.free s.first (less_promised request s.rare))

and then_serve = Step.Then serve

(* --- Who waits ------------------------------------------------------------ *)

let queue change (w : (request, unit) Waiter.t) { free; first; rare } =
  if w.arg.aside then
    state free first (rarely { rare with second = change rare.second w })
  else state free (change first w) rare

(* A task that was nudged and comes in vain is not on its way any more. *)
let queue_first (w : (request, unit) Waiter.t) s =
  queue Waiters.push_first w { s with rare = less_promised w.arg s.rare }

type 't waiting = ('t, request, unit) Nudge.waiting

let waiting ?(left = then_serve) word (operation : _ Operation.t) : _ waiting =
  let attempt t request = Step.attempt (word t) take request
  and enlist t w = Step.enlist (word t) take (fun _ -> queue_first) w
  and withdraw t w = Step.withdraw (word t) queue left w in
  let how = Operation.By_steps { word; step = take; queue; left } in
  {
    operation = { operation with how };
    how_again = By_hand { attempt; enlist; withdraw };
    of_arg = (fun request -> request.comes);
    with_arg = (fun request comes -> { request with comes });
    give_up =
      (fun t request ->
        Sys.opaque_identity (Step.surely (word t) give_up request));
  }

let waiters t =
  let s = Atomic.get t in
  Waiters.length s.first + Waiters.length s.rare.second
