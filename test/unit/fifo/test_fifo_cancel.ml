(* When a cancellation reaches a task. [Test_waits] has what it must not lose, in each operation. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

(* Waits, and reports how the wait ended. *)
let await say name p =
  match Promise.await p with
  | () -> say (name ^ " resumed")
  | exception e ->
      say (name ^ " unwound");
      raise e

let eager () =
  traced [ "cancelled"; "a unwound"; "yielded"; "b resumed" ] @@ fun say ->
  let p = Promise.create () in
  Fifo.run @@ fun () ->
  let a = Fifo.fork (fun () -> await say "a" p) in
  let _b = Fifo.fork (fun () -> await say "b" p) in
  int "both wait" 2 (Promise.waiters p);
  Fifo.cancel a;
  say "cancelled";
  Fifo.yield ();
  int "withdrawn" 1 (Promise.waiters p);
  say "yielded";
  Promise.fill p ()

let lazily_by_a_match () =
  traced [ "yielded"; "filled"; "a unwound"; "b resumed" ] @@ fun say ->
  let p = Promise.create () in
  Fifo.run ~cancellation:`Lazy @@ fun () ->
  let a = Fifo.fork (fun () -> await say "a" p) in
  let _b = Fifo.fork (fun () -> await say "b" p) in
  Fifo.cancel a;
  Fifo.yield ();
  say "yielded";
  Promise.fill p ();
  say "filled"

let lazily_when_idle () =
  traced [ "yielded"; "main waits"; "a unwound"; "main resumed" ] @@ fun say ->
  let never = Promise.create () and p = Promise.create () in
  let fill () =
    eventually "unwound" (fun () -> Promise.waiters never = 0);
    Promise.fill p ()
  in
  Fifo.run ~cancellation:`Lazy @@ fun () ->
  let a = Fifo.fork (fun () -> await say "a" never) in
  Fifo.cancel a;
  Fifo.yield ();
  say "yielded";
  let filler = Thread.create fill () in
  say "main waits";
  await say "main" p;
  Thread.join filler

let lazily_loses_nothing () =
  let box = Mvar.create_empty () in
  Fifo.run ~cancellation:`Lazy @@ fun () ->
  let a = Fifo.fork (fun () -> ignore (Mvar.take box : int)) in
  let b = Fifo.fork_promise (fun () -> Mvar.take box) in
  Fifo.cancel a;
  Mvar.put box 1;
  int "the next one has it" 1 (Promise.await b);
  let c = Fifo.fork (fun () -> ignore (Mvar.take box : int)) in
  Fifo.cancel c;
  Mvar.put box 2;
  yes "it stays" (Mvar.try_take box = Some 2)

let sticky cancellation () =
  let never = Promise.create () and empty = Mvar.create_empty () in
  let ended = ref false in
  Fifo.run ~cancellation (fun () ->
      let task () =
        let refused what f = raises what Fifo.Cancelled f in
        refused "await" (fun () -> Promise.await never);
        refused "await again" (fun () -> Promise.await never);
        refused "take" (fun () -> Mvar.take empty);
        refused "yield" Fifo.yield;
        refused "fork" (fun () -> ignore (Fifo.fork (fun () -> assert false)));
        refused "scope" (fun () -> Fifo.Scope.run (fun _ -> Fifo.yield ()));
        (* Operations that need not suspend still succeed. *)
        Promise.await (Promise.of_value ());
        int "take" 1 (Mvar.take (Mvar.create 1));
        ended := true
      in
      let h = Fifo.fork task in
      Fifo.cancel h;
      Fifo.join h);
  yes "it continued to its end" !ended;
  int "no task waits" 0 (Promise.waiters never + Mvar.waiters empty)

let ended_or_twice () =
  Fifo.run @@ fun () ->
  let ended = Fifo.fork ignore in
  Fifo.cancel ended;
  Fifo.join ended;
  let h = Fifo.fork (fun () -> Promise.await (Promise.create ())) in
  Fifo.cancel h;
  Fifo.cancel h;
  Fifo.join h;
  Fifo.cancel h;
  Fifo.yield ()

(* The resumer of a task that has ended must not resume a later one. *)
let ended_reaches_no_other () =
  traced [ "b resumed"; "c resumed" ] @@ fun say ->
  let p = Promise.create () and kept = ref (fun _ -> true) in
  let keep resumer =
    kept := resumer;
    Some ()
  in
  Fifo.run @@ fun () ->
  let a = Fifo.fork (fun () -> Suspend.suspend keep) in
  Fifo.join a;
  let b = Fifo.fork (fun () -> await say "b" p) in
  let c = Fifo.fork (fun () -> await say "c" p) in
  Fifo.cancel a;
  in_thread (fun () -> Fifo.cancel a);
  in_domain (fun () -> Fifo.cancel a);
  no "its resumer" (!kept (Error Boom));
  Fifo.yield ();
  int "both wait" 2 (Promise.waiters p);
  Promise.fill p ();
  List.iter Fifo.join [ b; c ]

let from_elsewhere place () =
  traced [ "main resumed"; "a unwound" ] @@ fun say ->
  let never = Promise.create () and p = Promise.create () in
  let cancelled = Promise.create () in
  Fifo.run @@ fun () ->
  let a = Fifo.fork (fun () -> await say "a" never) in
  place (fun () ->
      Fifo.cancel a;
      Promise.fill cancelled ());
  Promise.await cancelled;
  Promise.fill p ();
  await say "main" p

(* The cancellation comes while the scheduler sleeps. Its host is [Hand], which shows that
   it sleeps. *)
let wakes_the_loop place () =
  traced [ "asleep"; "a unwound" ] @@ fun say ->
  let never = Promise.create () and handle = Mvar.create_empty () in
  let main () =
    let a = Fifo.fork (fun () -> await say "a" never) in
    Mvar.put handle a;
    Fifo.join a
  in
  let run = Hand.start (fun () -> Fifo.run main) in
  yes "it waits in its host" (Hand.waits run);
  say "asleep";
  place (fun () -> Fifo.cancel (Mvar.take handle));
  Hand.settle ();
  Hand.result run

let before_the_first_suspension () =
  traced [ "runs on"; "refused" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let task () =
    Fifo.cancel (Fifo.self ());
    say "runs on";
    match Fifo.yield () with
    | () -> say "not refused"
    | exception Fifo.Cancelled -> say "refused"
  in
  Fifo.join (Fifo.fork task)

let the_outermost_task () =
  let f () =
    Fifo.run (fun () ->
        Fifo.cancel (Fifo.self ());
        Fifo.yield ())
  in
  raises "run" Fifo.Cancelled f;
  let f () =
    Fifo.run (fun () ->
        Fifo.cancel (Fifo.self ());
        3)
  in
  raises "run, even if it never suspended" Fifo.Cancelled f

let ready_after_yield () =
  traced [ "main"; "refused" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let task () = try Fifo.yield () with Fifo.Cancelled -> say "refused" in
  let h = Fifo.fork task in
  Fifo.cancel h;
  say "main"

let a_parent_in_fork () =
  traced [ "child"; "parent continues"; "then raised" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let parent () =
    let me = Fifo.self () in
    ignore
      (Fifo.fork (fun () ->
           say "child";
           Fifo.cancel me)
        : Fifo.handle);
    (* The function was called already, so [fork] must not raise. *)
    say "parent continues";
    try Fifo.yield () with Fifo.Cancelled -> say "then raised"
  in
  ignore (Fifo.fork parent : Fifo.handle)

let join_a_cancelled_task () =
  Fifo.run @@ fun () ->
  let h = Fifo.fork (fun () -> Promise.await (Promise.create ())) in
  Fifo.cancel h;
  Fifo.join h;
  let h =
    Fifo.fork (fun () -> try Fifo.yield () with Fifo.Cancelled -> raise Boom)
  in
  Fifo.cancel h;
  raises "its own exception" Boom (fun () -> Fifo.join h)

let cancelled_in_join () =
  traced [ "joiner raised"; "h ends" ] @@ fun say ->
  let p = Promise.create () in
  Fifo.run @@ fun () ->
  let h =
    Fifo.fork (fun () ->
        Promise.await p;
        say "h ends")
  in
  let joiner =
    Fifo.fork (fun () ->
        try Fifo.join h with Fifo.Cancelled -> say "joiner raised")
  in
  Fifo.cancel joiner;
  Fifo.join joiner;
  Promise.fill p ()

let cancelled_in_join_too_late () =
  Fifo.run @@ fun () ->
  let gate = Promise.create () in
  let h =
    Fifo.fork (fun () ->
        Promise.await gate;
        raise Boom)
  in
  let joiner =
    Fifo.fork (fun () -> raises "join" Boom (fun () -> Fifo.join h))
  in
  Promise.fill gate ();
  Fifo.cancel joiner;
  (* The joiner runs after [h]. Its join counts, because the failure of [h] must be reported
     somewhere. *)
  Fifo.join joiner

let not_its_own_cancelled () =
  (* A task that raises [Cancelled] without having been cancelled has failed. *)
  raises "run" Fifo.Cancelled (fun () ->
      Fifo.run (fun () ->
          ignore (Fifo.fork (fun () -> raise Fifo.Cancelled) : Fifo.handle)))

let protect cancellation () =
  traced [ "inside 1"; "inside 2"; "raised after" ] @@ fun say ->
  let p = Promise.create () and q = Promise.create () in
  Fifo.run ~cancellation @@ fun () ->
  let task () =
    Fifo.protect (fun () ->
        Promise.await p;
        say "inside 1";
        Fifo.protect (fun () -> Promise.await q);
        Fifo.yield ();
        say "inside 2");
    try Fifo.yield () with Fifo.Cancelled -> say "raised after"
  in
  let h = Fifo.fork task in
  Fifo.cancel h;
  Fifo.yield ();
  Promise.fill p ();
  Fifo.yield ();
  Promise.fill q ()

let protect_raises () =
  Fifo.run @@ fun () ->
  let task () =
    raises "protect" Boom (fun () -> Fifo.protect (fun () -> raise Boom));
    raises "the next suspension" Fifo.Cancelled Fifo.yield
  in
  let h =
    Fifo.fork (fun () ->
        Fifo.cancel (Fifo.self ());
        task ())
  in
  Fifo.join h

(* A lazily cancelled task is unwound after at most this many turns of other tasks. It then
   needs a turn itself. *)
let turns_of_lazy_ones = 256

(* Each step takes one turn. *)
let lazily_present () =
  let p = Promise.create () and most = ref 0 in
  Fifo.run ~cancellation:`Lazy @@ fun () ->
  for _ = 1 to 20_000 do
    Fifo.cancel (Fifo.fork (fun () -> Promise.await p));
    most := Int.max !most (Promise.waiters p)
  done;
  if !most > turns_of_lazy_ones + 1 then
    Alcotest.failf "%d cancelled tasks were present" !most

let memory cancellation ~turns () =
  let p : int Promise.t = Promise.create () and box = Mvar.create_empty () in
  let words_before = words (p, box) in
  Fifo.run ~cancellation @@ fun () ->
  let fork i =
    Fifo.fork (fun () ->
        ignore (if i mod 2 = 0 then Promise.await p else Mvar.take box : int))
  in
  let tasks = List.init 10_000 fork in
  int "all wait" 10_000 (Promise.waiters p + Mvar.waiters box);
  List.iter Fifo.cancel tasks;
  for _ = 1 to turns do
    Fifo.yield ()
  done;
  int "none waits" 0 (Promise.waiters p + Mvar.waiters box);
  int "words" words_before (words (p, box))

let handle_of_an_ended_run () =
  let kept =
    Fifo.run (fun () ->
        let p = Promise.create () in
        let fork _ = Fifo.fork (fun () -> Promise.await p) in
        let tasks = List.init 10_000 fork in
        Promise.fill p ();
        List.hd tasks)
  in
  let size = words kept in
  if size > 1000 then Alcotest.failf "a kept handle has %d words" size

let cancel_after_run () =
  let kept = Fifo.run Fifo.self in
  let size = words kept in
  for _ = 1 to 1000 do
    Fifo.cancel kept
  done;
  int "words" size (words kept)

(* --- The outermost task --------------------------------------------------- *)

let main_is_cancelled () =
  raises "run" Fifo.Cancelled (fun () ->
      Fifo.run @@ fun () ->
      let main = Fifo.self () in
      let wait () = Promise.await (Promise.create ()) in
      ignore (Fifo.fork wait : Fifo.handle);
      ignore (Fifo.fork (fun () -> Fifo.cancel main) : Fifo.handle);
      wait ())

let wait_for_ever () = Promise.await (Promise.create ())

(* The task is cancelled while it runs, and then returns. Another task waits. *)
let main_does_not_wait cancellation () =
  traced [ "unwound"; "raised" ] @@ fun say ->
  let main () =
    let unwound () = say "unwound" in
    let wait () = Fun.protect wait_for_ever ~finally:unwound in
    ignore (Fifo.fork wait : Fifo.handle);
    Fifo.cancel (Fifo.self ());
    1
  in
  (match Fifo.run ~cancellation main with
  | _ -> say "returned"
  | exception Fifo.Cancelled -> say "raised");
  (* The same for an inner run in a task that continues afterwards. *)
  Fifo.run @@ fun () ->
  raises "a run inside" Fifo.Cancelled (fun () ->
      Fifo.run (fun () -> Fifo.cancel (Fifo.self ())));
  Fifo.yield ()

let main_has_ended () =
  raises "run" Fifo.Cancelled @@ fun () ->
  Fifo.run @@ fun () ->
  let main = Fifo.self () in
  ignore (Fifo.fork wait_for_ever : Fifo.handle);
  ignore
    (Fifo.fork (fun () ->
         Fifo.join main;
         Fifo.cancel main)
      : Fifo.handle)

let main_has_ended_elsewhere place () =
  let ended = Promise.create () in
  let run =
    Hand.start @@ fun () ->
    Fifo.run @@ fun () ->
    let main = Fifo.self () in
    ignore (Fifo.fork wait_for_ever : Fifo.handle);
    ignore
      (Fifo.fork (fun () ->
           Fifo.join main;
           Promise.fill ended main)
        : Fifo.handle)
  in
  place (fun () -> Fifo.cancel (Promise.await ended));
  Hand.settle ();
  raises "run" Fifo.Cancelled (fun () -> Hand.result run)

let main_in_protect () =
  traced [ "protected"; "raised" ] @@ fun say ->
  raises "run" Fifo.Cancelled @@ fun () ->
  Fifo.run @@ fun () ->
  Fifo.protect (fun () ->
      Fifo.cancel (Fifo.self ());
      Fifo.yield ();
      say "protected");
  try Fifo.yield ()
  with Fifo.Cancelled as e ->
    say "raised";
    raise e

(* --- In block ------------------------------------------------------------- *)

let in_block cancellation () =
  traced [ "unwound" ] @@ fun say ->
  Fifo.run ~cancellation @@ fun () ->
  let work () =
    let me = Fifo.self () in
    let block _ =
      Fifo.cancel me;
      None
    in
    try Suspend.suspend block with Fifo.Cancelled -> say "unwound"
  in
  Fifo.join (Fifo.fork work)

let in_block_that_gives cancellation () =
  traced [ "given"; "unwound" ] @@ fun say ->
  Fifo.run ~cancellation @@ fun () ->
  let work () =
    let me = Fifo.self () in
    let block _ =
      Fifo.cancel me;
      Some "given"
    in
    say (Suspend.suspend block);
    try Fifo.yield () with Fifo.Cancelled -> say "unwound"
  in
  Fifo.join (Fifo.fork work)

(* --- Memory of a loop that is never idle ---------------------------------- *)

(* Runs enough turns for all lazily cancelled tasks to be unwound. *)
let live_words () =
  for _ = 1 to 2 * turns_of_lazy_ones do
    Fifo.yield ()
  done;
  Gc.full_major ();
  (Gc.stat ()).live_words

(* [step] leaves nothing behind, however often it runs. A debugged program keeps records of
   the last few thousand waits, so it is left out. *)
let leaves_nothing ?cancellation step () =
  if not debugged then (
    Fifo.run ?cancellation @@ fun () ->
    let steps n =
      for _ = 1 to n do
        step ()
      done
    in
    steps 1_000;
    let before = live_words () in
    steps 20_000;
    let grown = live_words () - before in
    yes (Printf.sprintf "grown by %d words" grown) (grown < 1_000))

let fail_and_join () =
  match Fifo.join (Fifo.fork (fun () -> raise_notrace Exit)) with
  | () -> Alcotest.fail "join did not raise"
  | exception Exit -> ()

let cancel_and_fill () =
  let promise = Promise.create () in
  let task = Fifo.fork (fun () -> Promise.await promise) in
  Fifo.cancel task;
  Promise.fill promise ();
  Fifo.join task

let cancel_and_wait () =
  let promise = Promise.create () in
  Fifo.cancel (Fifo.fork (fun () -> Promise.await promise))

let cancel_in_one_place =
  let promise = Promise.create () in
  fun () -> Fifo.cancel (Fifo.fork (fun () -> Promise.await promise))

let () =
  run "Fifo.cancel"
    [
      ( "outermost",
        [
          test "cancelling the outermost task ends the run" main_is_cancelled;
          test "eager: even if it no longer waits" (main_does_not_wait `Eager);
          test "lazy: even if it no longer waits" (main_does_not_wait `Lazy);
          test "even if it has ended" main_has_ended;
          test "from a thread, even if it has ended"
            (main_has_ended_elsewhere in_thread);
          test "from a domain, even if it has ended"
            (main_has_ended_elsewhere in_domain);
          test "in protect, and after" main_in_protect;
        ] );
      ( "in block",
        [
          test "eager: unwound when it is over" (in_block `Eager);
          test "lazy: unwound when it is over" (in_block `Lazy);
          test "eager: keeps the value that it gives"
            (in_block_that_gives `Eager);
          test "lazy: keeps the value that it gives" (in_block_that_gives `Lazy);
        ] );
      ( "a busy loop keeps no memory of",
        [
          test "failures that were joined" (leaves_nothing fail_and_join);
          test "eager cancellations" (leaves_nothing cancel_and_fill);
          test "lazy cancellations"
            (leaves_nothing ~cancellation:`Lazy cancel_and_fill);
          test "eager cancellations of tasks that nothing resumes"
            (leaves_nothing cancel_and_wait);
          test "lazy cancellations of tasks that nothing resumes"
            (leaves_nothing ~cancellation:`Lazy cancel_and_wait);
          test "lazy cancellations in one structure"
            (leaves_nothing ~cancellation:`Lazy cancel_in_one_place);
        ] );
      ( "eager and lazy",
        [
          test "eager: unwound at its next turn" eager;
          test "lazy: unwound when it would have been resumed" lazily_by_a_match;
          test "lazy: unwound at the latest when all wait" lazily_when_idle;
          test "lazy: its item goes to the next waiter" lazily_loses_nothing;
          test "eager: 10,000 cancelled tasks leave nothing behind"
            (memory `Eager ~turns:1);
          test "lazy: 10,000 cancelled tasks leave nothing behind"
            (memory `Lazy ~turns:(turns_of_lazy_ones + 1));
          test "lazy: few are present, even if the loop is never idle"
            lazily_present;
          test "a handle that is kept is small" handle_of_an_ended_run;
          test "cancel after run has ended leaves nothing" cancel_after_run;
        ] );
      ( "delivery",
        [
          test "eager: every later suspension raises" (sticky `Eager);
          test "lazy: every later suspension raises" (sticky `Lazy);
          test "of an ended task, and twice: no effect" ended_or_twice;
          test "of an ended task: no effect on others" ended_reaches_no_other;
          test "from a thread" (from_elsewhere in_thread);
          test "from a domain" (from_elsewhere in_domain);
          test "from a thread: wakes the loop" (wakes_the_loop in_thread);
          test "from a domain: wakes the loop" (wakes_the_loop in_domain);
          test "before the first suspension: raised there"
            before_the_first_suspension;
          test "of the outermost task: run raises" the_outermost_task;
          test "between two turns: yield raises" ready_after_yield;
          test "fork does not raise once its function runs" a_parent_in_fork;
        ] );
      ( "join",
        [
          test "of a cancelled task returns, unless it raised"
            join_a_cancelled_task;
          test "cancelled in join: the other task continues" cancelled_in_join;
          test "cancelled in join, but the other task failed: join raises that"
            cancelled_in_join_too_late;
          test "Cancelled of a task that was not cancelled is a failure"
            not_its_own_cancelled;
        ] );
      ( "protect",
        [
          test "eager: deferred to after the outer protect" (protect `Eager);
          test "lazy: deferred to after the outer protect" (protect `Lazy);
          test "ends with an exception too" protect_raises;
        ] );
    ]
