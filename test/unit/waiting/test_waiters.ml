(* Compares the queue of waiters with a list, under random operations. They also use
   versions of a queue from which others were made since. *)

module Waiter = Concord__core__Waiter
module Waiters = Concord__core__Waiters
module Operation = Concord__core__Operation
open Concord_test_support
open Check

type waiter = (int, unit) Waiter.t

let waiter number : waiter =
  let w = Waiter.make number in
  w.resumer <- (fun _ -> true);
  w

let names waiters = List.map (fun (w : waiter) -> string_of_int w.arg) waiters
let live waiters = List.filter Waiter.is_live waiters

let contents q =
  let waiters = ref [] in
  Waiters.iter (fun w -> waiters := w :: !waiters) q;
  List.rev !waiters

let check_same q expected =
  strings "in order" (names (live expected)) (names (live (contents q)));
  int "length" (List.length (live expected)) (Waiters.length q);
  yes "kept: at most twice as many as wait"
    (List.length (contents q) <= Int.max 1 (2 * Waiters.length q));
  List.iter
    (fun w -> yes "exists" (Waiters.exists (( == ) w) q))
    (live expected)

let take (q, expected) =
  if Waiters.is_empty q then (q, expected)
  else begin
    let w = Waiters.head q in
    (* A task that takes out a withdrawn waiter ignores it. *)
    if Waiter.is_live w then yes "the first" (w == List.hd (live expected));
    (Waiters.tail q, List.filter (( != ) w) expected)
  end

let leave random (q, expected) =
  match live expected with
  | [] -> (q, expected)
  | waiters ->
      let w =
        List.nth waiters (Random.State.int random (List.length waiters))
      in
      Waiter.mark_withdrawn w;
      (Waiters.count_withdrawn q, List.filter (( != ) w) expected)

let random_operations () =
  for seed = 1 to 200 do
    let random = Random.State.make [| seed |] in
    (* At first more waiters come than leave, so that the queue is long when it is reversed. *)
    let rec go n number state =
      if n < 400 then begin
        let coming = if n < 150 then 7 else 3 in
        let number, state =
          match Random.State.int random 10 with
          | k when k < coming ->
              let w = waiter number and q, expected = state in
              (number + 1, (Waiters.push q w, expected @ [ w ]))
          | k when k land 1 = 0 -> (number, take state)
          | _ -> (number, leave random state)
        in
        let q, expected = state in
        if n land 15 = 0 then check_same q expected;
        go (n + 1) number state
      end
    in
    go 0 0 (Waiters.empty, [])
  done

let push_all q first last =
  List.fold_left
    (fun q number -> Waiters.push q (waiter number))
    q
    (List.init (last - first + 1) (fun i -> first + i))

(* Two operations start from one version, as if one of them had failed to replace it. *)
let old_versions () =
  let q = Waiters.tail (push_all Waiters.empty 1 100) in
  let one = Waiters.tail (push_all q 101 110) and other = Waiters.tail q in
  let numbers first last =
    List.init (last - first + 1) (fun i -> string_of_int (first + i))
  in
  strings "one" (numbers 3 110) (names (contents one));
  strings "the other" (numbers 3 100) (names (contents other));
  strings "the old one" (numbers 2 100) (names (contents q))

(* Each removal is repeated, because another waiter came meanwhile. It must not reverse the
   long queue again. *)
let reversed_once () =
  let n = 20_000 in
  let q = ref (push_all Waiters.empty 1 n) in
  let start = Gc.minor_words () in
  for i = 1 to 1_000 do
    ignore (Waiters.tail !q : (int, unit) Waiters.t);
    q := Waiters.push !q (waiter (n + i))
  done;
  let words = Gc.minor_words () -. start in
  yes
    (Printf.sprintf "%.0f words for 1,000 takings" words)
    (words < float (10 * n))

let leave q w =
  Waiter.mark_withdrawn w;
  Waiters.count_withdrawn q

(* Each waiter comes behind others and leaves before the next one comes. *)
let last_leaves () =
  let long = push_all Waiters.empty 1 100 in
  let come_and_leave q number =
    let w = waiter number in
    leave (Waiters.push q w) w
  in
  let none_gone what q =
    int what 0
      (List.length (List.filter (Fun.negate Waiter.is_live) (contents q)))
  in
  let numbers = List.init 1_000 (fun i -> 1_000 + i) in
  none_gone "none is kept" (List.fold_left come_and_leave long numbers);
  none_gone "nor in one that was reversed"
    (List.fold_left come_and_leave (Waiters.tail long) numbers)

(* Two tasks have left, and are counted one after the other. *)
let two_leave () =
  let q = push_all Waiters.empty 1 100 in
  let w = waiter 101 and last = waiter 102 in
  let q = Waiters.push (Waiters.push q w) last in
  Waiter.mark_withdrawn w;
  Waiter.mark_withdrawn last;
  int "both" 100
    (Waiters.length (Waiters.count_withdrawn (Waiters.count_withdrawn q)))

(* A signal handler raises before the waiter is counted, or after it. *)
let interrupted ~counted () =
  let t = Atomic.make (push_all Waiters.empty 1 20) and calls = ref 0 in
  let withdraw t w =
    incr calls;
    if !calls = 1 && not counted then raise Exit;
    Operation.leave t w Waiters.count_withdrawn;
    if !calls = 1 then raise Exit
  in
  let attempt _ _ = None and enlist _ _ = true in
  let operation =
    {
      Operation.default with
      name = "test";
      how = By_hand { attempt; enlist; withdraw };
    }
  in
  let w = waiter 21 in
  Atomic.set t (Waiters.push (Atomic.get t) w);
  raises "the handler's" Exit (fun () -> Operation.withdraw operation t w);
  int "counted once" 20 (Waiters.length (Atomic.get t));
  Operation.withdraw operation t w;
  int "it was withdrawn" (if counted then 1 else 2) !calls

let () =
  run "Waiters"
    [
      ( "queue",
        [
          test "as a list" random_operations;
          test "old versions stay as they are" old_versions;
          test "a long queue is reversed once" reversed_once;
          test "the last waiter to leave is not kept" last_leaves;
          test "two that leave at once are counted once each" two_leave;
          test "interrupted before it is counted" (interrupted ~counted:false);
          test "interrupted after it is counted" (interrupted ~counted:true);
        ] );
    ]
