(* Signal handlers that raise in a task that waits, or that ends its wait: what it was
   given reaches others, and nothing of it stays. *)

open Concord
open Concord_test_support
open Check
open Effect.Deep

exception Interrupt

(* --- At any moment ----------------------------------------------------------- *)

(* [f] from the beginning after each exception. One that comes too late for a thread, as it
   was resumed already, may be dropped, and then no more come in this turn. *)
let often f =
  let count = ref 0 in
  while !count < 500 do
    let calls = ref 0 in
    Interrupting.run ~by:Interrupt ~count (fun () ->
        while !calls < 5_000 do
          incr calls;
          f ()
        done)
  done

let in_vain () = None
let found () = Some ()

(* Resumes who enlists, at once. *)
let passes =
  let enlist () w =
    ignore (Structure_kit.Waiter.resume w (Ok ()) : bool);
    true
  in
  let attempt () () = None and withdraw () _ = () in
  Event.make
    {
      Structure_kit.default with
      name = "test";
      how = By_hand { attempt; enlist; withdraw };
    }
    () ()

(* One signal goes to the only one that waits. *)
let nothing_stays c =
  int "waiters" 0 (Condition.waiters c);
  let other = Hand.watch (fun () -> Condition.wait_no_mutex c) in
  Condition.signal c;
  yes "the signal" !other

let looks () =
  let c = Condition.create () in
  often (fun () -> Condition.loop_no_mutex c found);
  nothing_stays c

let looks_as_event () =
  let c = Condition.create () in
  let looking = Condition.loop_no_mutex_evt c in
  often (fun () -> Event.select [ looking found; Event.never ]);
  nothing_stays c;
  (* Another alternative is chosen, at once or later; or none. *)
  often (fun () ->
      Event.sync (Event.prefer [ looking in_vain; Event.always () ]));
  often (fun () -> Event.select [ looking in_vain; passes ]);
  often (fun () -> ignore (Event.poll (looking in_vain) : unit option));
  nothing_stays c

let other_waits () =
  let c = Condition.create () and b = Bvar.create () in
  often (fun () ->
      Event.select [ Condition.wait_no_mutex_evt c; Bvar.wait_evt b; passes ]);
  nothing_stays c;
  int "of the variable" 0 (Bvar.waiters b)

(* Its task chose otherwise, and has not withdrawn it yet. *)
let refuse c =
  let d = Condition.create () in
  let both = [ Condition.wait_no_mutex_evt c; Condition.wait_no_mutex_evt d ] in
  ignore (Hand.watch (fun () -> Event.select both) : bool ref);
  Condition.broadcast d

(* A signal comes during the last look, when another task waits behind, and some that
   refuse, so that it takes a while to pass it on. *)
let passes_on loop () =
  let signalled = ref false and other = ref (ref false) in
  often (fun () ->
      if !signalled && not !(!other) then Alcotest.fail "a signal was lost";
      signalled := false;
      let c = Condition.create () in
      loop c (fun () ->
          for _ = 1 to 5 do
            refuse c
          done;
          other := Hand.watch (fun () -> Condition.wait_no_mutex c);
          Condition.signal c;
          signalled := true;
          Some ()))

let event c f = Event.sync (Condition.loop_no_mutex_evt c f)

(* If one has run, all have. *)
let aborts () =
  let ran = Array.make 5 0 in
  let abort i = Event.wrap_abort Event.never (fun () -> ran.(i) <- ran.(i) + 1)
  and undo i =
    Event.wrap_withdraw Event.never (fun () -> ran.(i) <- ran.(i) + 1)
  in
  let others = [ abort 0; undo 1; abort 2; undo 3; abort 4 ] in
  often (fun () -> Event.select (Event.always () :: others));
  often (fun () -> Event.select (passes :: others));
  often (fun () -> ignore (Event.poll (Event.choose others) : unit option));
  Array.iter (int "each as often as the first" ran.(0)) ran

(* --- Between two steps --------------------------------------------------------- *)

(* A handler raises in a task that was resumed, before it has gone on. *)
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

(* The same, while its resumer runs; which [raises] may raise after that. *)
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

(* --- What the function of a look raises ------------------------------------------ *)

exception Boom

(* [f] raises in look [n]; each look but the first one comes after a wake-up, if there is
   no other in between. *)
let in_look n =
  let looks = ref 0 in
  fun () ->
    incr looks;
    if !looks = n then raise Boom;
    None

let around =
  [
    ("to_result", Event.to_result);
    ( "wrap_handler",
      fun event ->
        Event.wrap_handler
          (Event.wrap event (fun _ -> Alcotest.fail "it has a value"))
          (fun e -> Error e) );
    ( "beside another",
      fun event ->
        Event.choose [ Event.to_result event; Event.wrap Event.never Result.ok ]
    );
  ]

let handled () =
  let check (name, around) =
    for n = 1 to 5 do
      let c = Condition.create () in
      let event = around (Condition.loop_no_mutex_evt c (in_look n)) in
      let task = Hand.start (fun () -> Event.sync event) in
      while Hand.waits task do
        Condition.signal c;
        Hand.settle ()
      done;
      yes
        (Printf.sprintf "%s, in look %d" name n)
        (Hand.result task = Error Boom);
      int "waiters" 0 (Condition.waiters c)
    done
  in
  List.iter check around

(* What is around the other alternatives runs, before the handler or after it. *)
let aborted () =
  traced [ "first"; "handler"; "last" ] @@ fun say ->
  let c = Condition.create () in
  let event = Condition.loop_no_mutex_evt c (in_look 2) in
  let task =
    Hand.start (fun () ->
        Event.select
          [
            Event.wrap_abort Event.never (fun () -> say "last");
            Event.wrap_withdraw Event.never (fun () -> say "first");
            Event.wrap_handler event (fun e ->
                yes "its exception" (e = Boom);
                say "handler");
          ])
  in
  Condition.signal c;
  Hand.settle ();
  Hand.result task

(* --- Barriers -------------------------------------------------------------------- *)

module Late = Concord__Late
module Trial = Concord__Trial

let is_kept () =
  match Late.raise_kept () with () -> false | exception Interrupt -> true

(* A handler raises in a task that was resumed and looks whether the trial has passed, just
   when it has. *)
let too_late ~cancelled () =
  let trial = Trial.create () in
  let suspend block k =
    if Trial.is_passed trial && not cancelled then
      continue k (Option.get (block (fun _ -> false)))
    else begin
      yes "passes" (Structure_kit.Step.perform trial (fun () -> Trial.pass) ());
      discontinue k Interrupt
    end
  in
  let has_passed =
    Handled.run { suspend } ~ret:Fun.id (fun () -> Trial.has_passed trial)
  in
  yes "has passed" has_passed;
  int "kept" (Bool.to_int (not cancelled)) (Bool.to_int (is_kept ()))

(* A task was woken in vain, and makes the next trial as it comes back: it resumes itself, and
   then another one, whose resumer raises. *)
let makes_the_next_trial () =
  let b = Barrier.create 3 in
  let await () = Barrier.await b in
  let first = Hand.start await in
  let doomed = Hand.start await in
  yes "cancelled" (Hand.cancel doomed);
  let last = Hand.start await in
  let other = Hand.watch ~strike:Interrupt await in
  Hand.settle ();
  Hand.unwound doomed;
  Hand.result first;
  Hand.result last;
  yes "resumed" !other;
  yes "kept" (is_kept ());
  int "waiters" 0 (Barrier.waiters b)

(* One of two parties is cancelled while it is asked, and has withdrawn when it refuses. *)
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
  run "interrupted"
    [
      ( "at any moment",
        [
          test "Condition.loop_no_mutex" looks;
          test "Condition.loop_no_mutex_evt" looks_as_event;
          test "a signal that is passed on" (passes_on Condition.loop_no_mutex);
          test "a signal that is passed on, as an event" (passes_on event);
          test "alternatives that are withdrawn" other_waits;
          test "aborts" aborts;
        ] );
      ( "between two steps",
        [
          test "after the resumption" (each after_its_resumption);
          test "during the resumption" (each (during_its_resumption ignore));
          test "also in who resumes"
            (each (during_its_resumption (fun () -> raise Interrupt)));
        ] );
      ( "the function of a look raises",
        [ test "handled" handled; test "aborts" aborted ] );
      ( "a barrier",
        [
          test "too late, in a task that looks" (too_late ~cancelled:false);
          test "a cancellation is not kept" (too_late ~cancelled:true);
          test "too late, in one that makes the next trial" makes_the_next_trial;
          test "waiters, while one withdraws" withdraws_while_asked;
        ] );
    ]
