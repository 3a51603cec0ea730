open Concord
open Concord.Tools
open Operation_scene
open Operation_outcome
module Hand = Operation_hand

(* If an alternative reports that it is ready, but then can't be performed, the choice tries
   all alternatives again. This alternative is never ready, and counts the attempts. *)
let most_attempts = 100

let never_for_ever () =
  let attempts = ref 0 in
  let attempt () () =
    incr attempts;
    if !attempts > most_attempts then
      Trial.fail
        "the choice tries forever. An alternative takes the choice's own \
         waiter on the other side for a partner, so it is not enlisted, and \
         then it cannot be performed";
    None
  in
  let how =
    Structure_kit.By_hand
      { attempt; enlist = (fun () _ -> true); withdraw = (fun () _ -> ()) }
  in
  Event.make { Structure_kit.default with name = "never"; how } () ()

let both s number release =
  Event.select [ (Option.get s.event) number; release; never_for_ever () ]

let chooser s =
  let w = start ~wait:(either s (both s)) s in
  match Hand.outcome w.task with
  | Raised ((Trial.Failed _ as e), backtrace) ->
      Printexc.raise_with_backtrace e backtrace
  | _ -> w

let offered s =
  only_if
    (Option.is_some s.event && Option.is_some s.release_event)
    "it has no events for both sides";
  only_if (one_by_one s) "one release lets several tasks continue"

(* No other task is there, so the choice can continue only by a release that need not wait. *)
let alone s =
  offered s;
  let w = chooser s in
  settle s;
  if waits w then begin
    cancel w;
    settle s;
    left w;
    let other = start s in
    let_go s 1;
    served s [ other ]
  end
  else begin
    returned w;
    if not s.keeps then
      Trial.fail
        "the choice met itself: it took its own offer on the other side";
    conserved s
  end

(* Each of the two lets the other one continue. *)
let meets other s =
  offered s;
  let w = chooser s in
  let other = other s in
  settle s;
  let check w what =
    if waits w then
      Trial.fail
        "%s still waits, although the choice and the other task could meet" what;
    returned w
  in
  check w "the choice";
  check other "the other task";
  conserved s

let meets_release s =
  offered s;
  let w = chooser s in
  if waits w then begin
    let_go s 1;
    served s [ w ]
  end

let cases =
  [
    ("no other task is there", alone);
    ("another task waits", meets start);
    ("a release comes", meets_release);
    ("two choices", meets chooser);
  ]
