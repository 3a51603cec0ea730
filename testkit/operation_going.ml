open Operation_signature
open Operation_scene
open Operation_outcome
module Hand = Operation_hand

let no_fault s fault =
  match Hand.faults s.hand fault with
  | [] -> ()
  | text :: _ -> Trial.fail "%s" text

(* --- S1 ----------------------------------------------------------------------- *)

let registers s =
  let _first = start s in
  let_go s 1;
  no_fault s Block

(* The release comes before [block] checks the state. So [block] returns a value, or
   registers. *)
let registers_or_returns s =
  let _first = start ~hooks:(release_first s) s in
  settle s;
  let _second = start s in
  if one_by_one s then let_go s 1;
  no_fault s Block

(* --- Which tasks continue ---------------------------------------------------------- *)

let released_before_block s =
  only_if
    (s.keeps || s.service <> Meets)
    "no task continues before all parties are there";
  let w = start ~hooks:(release_first s) s in
  Hand.settle s.hand;
  (* If the release waits, it is still there, so the task and the release must meet. *)
  let release_waits =
    List.exists (fun task -> Hand.outcome task = Hand.Waits) s.pending
  in
  if waits w && not s.keeps then begin
    if release_waits then
      Trial.fail "task %d and a release both wait, although they could meet"
        w.number;
    settle s;
    only_if false "a release is not kept for tasks that come later"
  end;
  settle s;
  served s [ w ]

let one_goes_on s =
  let waiters = start_many s 3 in
  (match List.find_opt (fun w -> not (waits w)) waiters with
  | Some w ->
      Trial.fail "task %d does not wait, although there was no release yet"
        w.number
  | None -> ());
  release_by_hand s;
  settle s;
  let waiting = List.length (List.filter waits waiters) in
  let expected =
    if one_by_one s then 2 else if s.service = Meets then 3 else 0
  in
  Trial.equal string_of_int "tasks that still wait, of three, after one release"
    expected waiting

(* Once a task has been resumed, a cancellation comes too late. *)
let resumed_then_cancelled s =
  only_if (s.service <> Meets) "no task continues before all parties are there";
  let waiters = start_many s 2 in
  release_by_hand s;
  let cancelled, resumed =
    List.partition (fun w -> Hand.cancel w.task) waiters
  in
  settle s;
  List.iter left cancelled;
  let expected = if s.service = Shares then 2 else 1 in
  Trial.equal string_of_int "tasks that one release resumed, of two" expected
    (List.length resumed);
  served s resumed

(* --- S4 ------------------------------------------------------------------------- *)

let an_order s = only_if s.in_order "it does not promise an order"

let in_order ~settled s =
  an_order s;
  let waiters = start_many s 3 in
  let_go ~settled s 3;
  served ~in_order:true s waiters

let newcomers_are_last s =
  an_order s;
  only_if (one_by_one s) "all tasks continue together";
  let first = start s in
  let second = start s in
  release_by_hand s;
  (* The newcomer comes before the resumed task has run. *)
  let newcomer = start s in
  settle s;
  returned first;
  if not (waits newcomer) then
    Trial.fail "task %d came last, but overtook a task that was waiting"
      newcomer.number;
  let_go s 2;
  served ~in_order:true s [ first; second; newcomer ]

let crowd = 99

(* A third refuses, and another third has left. *)
let some_stay s =
  an_order s;
  only_if (s.service <> Meets) "a party that leaves keeps the others waiting";
  let waiters = start_many s crowd in
  let every k = List.filteri (fun i _ -> i mod 3 = k) waiters in
  let leave w =
    cancel w;
    settle s
  in
  List.iter leave (every 2);
  List.iter cancel (every 1);
  let_go ~settled:false s (crowd / 3);
  List.iter left (every 1 @ every 2);
  served ~in_order:true s (every 0)

(* --- Resumers --------------------------------------------------------------------- *)

let resumed_once s =
  let rounds = if s.keeps && not (one_by_one s) then 1 else 3 in
  for _ = 1 to rounds do
    let waiters = start_many s 3 in
    let n =
      if s.service = Meets then 3
      else begin
        cancel (List.nth waiters 1);
        settle s;
        2
      end
    in
    let_go s n
  done;
  no_fault s Again

(* Raises in the resumer after it has decided, as a signal handler may. *)
let interrupted s =
  only_if (one_by_one s) "one release lets several tasks continue";
  may_be_interrupted s;
  let hooks =
    { Hand.no_hooks with resumed = once (fun () -> raise Hand.Interrupt) }
  in
  let both = List.init 2 (fun _ -> start ~hooks s) in
  let release = Hand.start s.hand (fun () -> release s) in
  (match Hand.outcome release with
  | Raised (Hand.Interrupt, _) -> Atomic.incr s.released
  | Raised (e, _) ->
      Trial.fail
        "the release raised %s, not the exception of the signal handler"
        (Printexc.to_string e)
  | Returned () | Waits -> ());
  Hand.settle s.hand;
  ignore (Hand.cancel release : bool);
  settle s;
  Trial.equal string_of_int "tasks that the interrupted release resumed" 1
    (List.length (List.filter (fun w -> not (waits w)) both));
  let_go s 1;
  List.iter returned both

(* Five tasks wait, and the resumers of two of them raise. *)
let all_interrupted s =
  only_if (s.service = Shares) "a release does not let all tasks continue";
  may_be_interrupted s;
  let waiters = start_some_interrupted s in
  let release = Hand.start s.hand (fun () -> release s) in
  raises_interrupt "the release" (fun () ->
      match Hand.outcome release with
      | Raised (e, _) -> raise e
      | Returned () | Waits -> ());
  settle s;
  List.iter returned waiters;
  counted s 0

let has_a_count s =
  only_if (Option.is_some s.count) "it does not count its waiters"

let counts_waiters s =
  has_a_count s;
  let waiters = start_many s 3 in
  counted s 3;
  let cancelled = List.nth waiters 1 in
  cancel cancelled;
  settle s;
  counted s 2;
  let_go s 2;
  counted s 0

(* A cancelled waiter is subtracted once, whether a release passes over it before it leaves, or
   it leaves first. *)
let counts_passed_over s =
  has_a_count s;
  only_if (one_by_one s) "one release lets several tasks continue";
  let leaves = start s in
  let _three = start_many s 3 in
  cancel leaves;
  settle s;
  counted s 3;
  let_go s 1;
  counted s 2;
  let passed_over = start s in
  cancel passed_over;
  let _last = start s in
  let_go s 2;
  counted s 1;
  let refuses = start s in
  (* So many that a structure may not want to look at each of them. *)
  let _others = start_many s 20 in
  cancel refuses;
  let_go ~settled:false s 2;
  counted s 19;
  let_go s 19;
  counted s 0

let block =
  [
    ("one task waits", registers);
    ("released before block", registers_or_returns);
  ]

let look = [ ("released before block", released_before_block) ]

let how_many =
  [
    ("three tasks wait", one_goes_on);
    ("resumed, then cancelled", resumed_then_cancelled);
  ]

let order =
  [
    ("three tasks wait", in_order ~settled:true);
    ("three tasks are resumed at once", in_order ~settled:false);
    ("a newcomer comes before a resumed task runs", newcomers_are_last);
    ("of 99 tasks, a third refuses, and a third has left", some_stay);
  ]

let once_only = [ ("three tasks wait", resumed_once) ]

let signal =
  [ ("five tasks wait", all_interrupted); ("two tasks wait", interrupted) ]

let count =
  [
    ("some are passed over", counts_passed_over);
    ("three tasks wait", counts_waiters);
  ]
