open Concord
open Concord.Tools
open Structure_kit
open Concord_testkit

type fault = Nothing | Looks_at_is_empty | Looks_then_enlists
type sides = { takers : (int, int) Waiters.t; givers : (int, int) Waiters.t }
type t = { fault : fault; sides : sides Atomic.t }

(* One of the two sides, and its counterpart. *)
type side = {
  name : string;
  own : sides -> (int, int) Waiters.t;
  set_own : sides -> (int, int) Waiters.t -> sides;
  others : sides -> (int, int) Waiters.t;
  set_others : sides -> (int, int) Waiters.t -> sides;
}

let takers s = s.takers
let givers s = s.givers
let set_takers s takers = { s with takers }
let set_givers s givers = { s with givers }

let taking =
  {
    name = "take";
    own = takers;
    set_own = set_takers;
    others = givers;
    set_others = set_givers;
  }

let giving =
  {
    name = "give";
    own = givers;
    set_own = set_givers;
    others = takers;
    set_others = set_takers;
  }

let rec meet side t x =
  let before = Atomic.get t.sides in
  let others = side.others before in
  if Waiters.is_empty others then None
  else
    let w = Waiters.head others in
    let after = side.set_others before (Waiters.tail others) in
    if Atomic.compare_and_set t.sides before after && Waiter.resume w (Ok x)
    then Some w.arg
    else meet side t x

(* Whether [w] may meet one of these waiters. Waiters outside any choice share a value of
   [choice], too. *)
let can_meet t w others =
  match t.fault with
  | Looks_at_is_empty -> not (Waiters.is_empty others)
  | Nothing | Looks_then_enlists ->
      let alone : (int, int) waiter = Waiter.make 0 in
      let is_other (other : (int, int) waiter) =
        other.choice != w.choice || other.choice == alone.choice
      in
      Waiters.exists
        (fun other -> Waiter.is_live other && is_other other)
        others

let push side s w = side.set_own s (Waiters.push (side.own s) w)

let rec enlist side t (w : (int, int) waiter) =
  let before = Atomic.get t.sides in
  if can_meet t w (side.others before) then false
  else if t.fault = Looks_then_enlists then begin
    update t.sides (fun s -> push side s w);
    true
  end
  else if Atomic.compare_and_set t.sides before (push side before w) then true
  else enlist side t w

let withdraw side t _ =
  update t.sides (fun s ->
      side.set_own s (Waiters.count_withdrawn (side.own s)))

let on side =
  {
    default with
    name = side.name;
    how =
      By_hand
        { attempt = meet side; enlist = enlist side; withdraw = withdraw side };
  }

let operation fault : (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type nonrec t = t

    let name = "take"
    let service = Operation.Trades
    let keeps = false

    let create _ =
      let sides = { takers = Waiters.empty; givers = Waiters.empty } in
      { fault; sides = Atomic.make sides }

    let wait = wait (on taking)
    let release = Structure_kit.wait (on giving)
    let event = Some (Event.make (on taking))
    let release_event = Some (Event.make (on giving))
  end)
