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

(* It is released before [block] looks: so [block] has a value, or may register. *)
let registers_or_returns s =
  let _first = start ~hooks:(release_first s) s in
  settle s;
  let _second = start s in
  if one_by_one s then let_go s 1;
  no_fault s Block

(* --- Who goes on ----------------------------------------------------------------- *)

let released_before_block s =
  only_if (s.keeps || s.service <> Meets) "nobody goes on alone";
  let w = start ~hooks:(release_first s) s in
  Hand.settle s.hand;
  (* A release that waits for somebody is not forgotten: the two must meet. *)
  let release_waits =
    List.exists (fun task -> Hand.outcome task = Hand.Waits) s.pending
  in
  if waits w && not s.keeps then begin
    if release_waits then
      Trial.fail "task %d and a release wait for each other" w.number;
    settle s;
    only_if false "an early release is forgotten"
  end;
  settle s;
  served s [ w ]

let one_goes_on s =
  let waiters = start_many s 3 in
  (match List.find_opt (fun w -> not (waits w)) waiters with
  | Some w -> Trial.fail "task %d does not wait" w.number
  | None -> ());
  release_by_hand s;
  settle s;
  let waiting = List.length (List.filter waits waiters) in
  let expected =
    if one_by_one s then 2 else if s.service = Meets then 3 else 0
  in
  Trial.equal string_of_int "tasks that wait after one release" expected waiting

(* It was resumed: to cancel it is too late. *)
let resumed_then_cancelled s =
  only_if (s.service <> Meets) "nobody goes on alone";
  let waiters = start_many s 2 in
  release_by_hand s;
  let cancelled, resumed =
    List.partition (fun w -> Hand.cancel w.task) waiters
  in
  settle s;
  List.iter left cancelled;
  let expected = if s.service = Shares then 2 else 1 in
  Trial.equal string_of_int "tasks that one release resumed" expected
    (List.length resumed);
  served s resumed

(* --- S4 ------------------------------------------------------------------------- *)

let an_order s = only_if s.in_order "it promises no order"

let in_order ~settled s =
  an_order s;
  let waiters = start_many s 3 in
  let_go ~settled s 3;
  served ~in_order:true s waiters

let newcomers_are_last s =
  an_order s;
  only_if (one_by_one s) "all go on together";
  let first = start s in
  let second = start s in
  release_by_hand s;
  (* before the first one has gone on *)
  let newcomer = start s in
  settle s;
  returned first;
  if not (waits newcomer) then Trial.fail "task %d overtook" newcomer.number;
  let_go s 2;
  served ~in_order:true s [ first; second; newcomer ]

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

(* As if a signal handler raised while the resumer runs, after it has decided. *)
let interrupted s =
  only_if (one_by_one s) "one release lets several go on";
  only_if s.interruptible "it does not promise it";
  let hooks =
    { Hand.no_hooks with resumed = once (fun () -> raise Hand.Interrupt) }
  in
  let both = List.init 2 (fun _ -> start ~hooks s) in
  let release = Hand.start s.hand (fun () -> release s) in
  (match Hand.outcome release with
  | Raised (Hand.Interrupt, _) -> Atomic.incr s.released
  | Raised (e, _) ->
      Trial.fail "the release raised %s instead" (Printexc.to_string e)
  | Returned () | Waits -> ());
  Hand.settle s.hand;
  ignore (Hand.cancel release : bool);
  settle s;
  Trial.equal string_of_int "tasks that it let go" 1
    (List.length (List.filter (fun w -> not (waits w)) both));
  let_go s 1;
  List.iter returned both

let counts_waiters s =
  only_if (Option.is_some s.count) "it counts nobody";
  let waiters = start_many s 3 in
  counted s 3;
  let cancelled = List.nth waiters 1 in
  cancel cancelled;
  settle s;
  counted s 2;
  let_go s 2;
  counted s 0

let block =
  [ ("one waits", registers); ("released before block", registers_or_returns) ]

let look = [ ("released before block", released_before_block) ]

let how_many =
  [
    ("three wait", one_goes_on);
    ("resumed, then cancelled", resumed_then_cancelled);
  ]

let order =
  [
    ("three wait", in_order ~settled:true);
    ("three are resumed at once", in_order ~settled:false);
    ("one comes", newcomers_are_last);
  ]

let once_only = [ ("three wait", resumed_once) ]
let signal = [ ("two wait", interrupted) ]
let count = [ ("three wait", counts_waiters) ]
