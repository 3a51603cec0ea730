(* A task is interrupted while its resumer runs, or after it was resumed. Other tasks must
   get what it was given. The other tests of this kind are in [test/unit/interrupted]. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Effect.Deep

exception Interrupt

(* A handler raises in a task that was resumed but hasn't continued. *)
let resumed_then_raises f =
  try_with f ()
    {
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Suspend.Suspend _ ->
              Some
                (fun (k : (a, _) continuation) ->
                  match Effect.perform e with
                  | _ -> discontinue k Interrupt
                  | exception e -> discontinue k e)
          | _ -> None);
    }

(* A handler raises in the task while its resumer runs. [raises] may make the resumer raise
   after that. *)
let raises_when_resumed ~raises f =
  let result = ref None in
  let suspend block k =
    let decided = ref false in
    let resumer _ =
      (not !decided)
      && begin
        decided := true;
        discontinue k Interrupt;
        raises ();
        true
      end
    in
    Option.iter (continue k) (block resumer)
  in
  Handled.run { suspend }
    ~ret:(fun outcome -> result := Some outcome)
    (fun () -> match f () with v -> Ok v | exception e -> Error e);
  result

let ways =
  [
    ("direct", Condition.loop_no_mutex);
    ("event", fun c f -> Event.sync (Condition.loop_no_mutex_evt c f));
    ( "choice",
      fun c f -> Event.select [ Event.never; Condition.loop_no_mutex_evt c f ]
    );
  ]

let each f () = List.iter (fun (name, loop) -> f name loop) ways

let create () =
  let c = Condition.create () and items = Atomic.make 0 in
  let take () =
    match Atomic.get items with
    | 0 -> None
    | n ->
        Atomic.set items (n - 1);
        Some n
  in
  (c, items, take)

let after_its_resumption name loop =
  let c, items, take = create () in
  let first =
    Hand.start (fun () -> resumed_then_raises (fun () -> loop c take))
  in
  let next = Hand.start (fun () -> loop c take) in
  Atomic.incr items;
  Condition.signal c;
  Hand.settle ();
  raises name Interrupt (fun () -> Hand.result first);
  int (name ^ ": the next one") 1 (Hand.result next);
  int "waiters" 0 (Condition.waiters c)

let during_its_resumption raises name loop =
  let c, items, take = create () in
  let first = raises_when_resumed ~raises (fun () -> loop c take) in
  let next = Hand.start (fun () -> loop c take) in
  Atomic.incr items;
  (try Condition.signal c with Interrupt -> ());
  Hand.settle ();
  yes name (!first = Some (Error Interrupt));
  int (name ^ ": the next one") 1 (Hand.result next);
  int "waiters" 0 (Condition.waiters c)

(* --- A waiter's resumer raises, in a task that waits or leaves ------------------- *)

(* The task unlocks its mutex for another task, whose resumer raises. *)
let while_it_unlocks name wait =
  let m = Mutex.create () and c = Condition.create () in
  let other = ref (ref false) in
  let task =
    Hand.start @@ fun () ->
    Mutex.lock m;
    other := Hand.watch ~strike:Interrupt (fun () -> Mutex.lock m);
    wait c m
  in
  yes (name ^ ": unlocked for the other one") !(!other);
  int (name ^ ": waiters") 0 (Condition.waiters c);
  yes (name ^ ": has no mutex yet") (Hand.waits task);
  Mutex.unlock m;
  Hand.settle ();
  raises name Interrupt (fun () -> Hand.result task);
  yes (name ^ ": has its mutex") (Mutex.is_locked m)

let unlocks () =
  List.iter
    (fun (name, wait) -> while_it_unlocks name wait)
    [
      ("wait", Condition.wait);
      ("wait_evt", fun c m -> Event.sync (Condition.wait_evt c m));
      ( "in a choice",
        fun c m -> Event.select [ Event.never; Condition.wait_evt c m ] );
    ]

(* A signal comes while the task finds what it wants. So the task passes the signal on to
   another one, whose resumer raises. *)
let while_it_leaves name loop =
  let c = Condition.create () and other = ref (ref false) in
  let look () =
    other := Hand.watch ~strike:Interrupt (fun () -> Condition.wait_no_mutex c);
    Condition.signal c;
    Some 1
  in
  let task = Hand.start (fun () -> loop c look) in
  yes (name ^ ": passed on") !(!other);
  raises name Interrupt (fun () -> Hand.result task);
  int (name ^ ": waiters") 0 (Condition.waiters c)

let leaves () =
  List.iter
    (fun (name, loop) -> while_it_leaves name loop)
    [
      ("loop_no_mutex", Condition.loop_no_mutex);
      ( "loop_no_mutex_evt",
        fun c f -> Event.sync (Condition.loop_no_mutex_evt c f) );
    ]

(* --- Barriers -------------------------------------------------------------------- *)

(* One of two parties is cancelled while it is asked. It has withdrawn by the time it
   refuses. *)
let withdraws_while_asked () =
  let b = Barrier.create 2 in
  let seen = ref [] in
  let suspend block k =
    let resumer _ =
      discontinue k Interrupt;
      seen := Barrier.waiters b :: !seen;
      false
    in
    yes "waits" (Option.is_none (block resumer))
  in
  Handled.run { suspend } ~ret:Fun.id (fun () ->
      try Barrier.await b with Interrupt -> ());
  let other = Hand.start (fun () -> Barrier.await b) in
  Alcotest.(check (list int)) "meanwhile" [ 0 ] !seen;
  int "waits" 1 (Barrier.waiters b);
  Barrier.await b;
  Hand.settle ();
  Hand.result other

let () =
  run "resumed, and interrupted"
    [
      ( "Condition.loop_no_mutex",
        [
          test "after the resumption" (each after_its_resumption);
          test "during the resumption" (each (during_its_resumption ignore));
          test "and in the resumer too"
            (each (during_its_resumption (fun () -> raise Interrupt)));
        ] );
      ( "a condition's waiter, in its task",
        [
          test "another one gets the mutex, and its resumer raises" unlocks;
          test "another one gets the signal, and its resumer raises" leaves;
        ] );
      ( "a barrier",
        [ test "waiters, while one withdraws" withdraws_while_asked ] );
    ]
