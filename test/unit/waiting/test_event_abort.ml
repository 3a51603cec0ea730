(* [guard] and [wrap_abort], alone and together. They behave as in Stdlib's [Event]. Other
   cases cancel the task. *)

open Concord
open Concord_test_support
open Check

exception Boom

let[@inline never] culprit () = if true then raise Boom
let ready = Event.always 1
let never : int Event.t = Event.never

(* Events that report when they are performed and when they are not. *)
let events say =
  let abort name event = Event.wrap_abort event (fun () -> say ("not " ^ name))
  and wrap name event =
    Event.wrap event (fun v ->
        say name;
        v)
  in
  (abort, wrap)

let cancel task =
  yes "cancel" (Hand.cancel task);
  Hand.settle ();
  raises "the task" Hand.Cancelled (fun () -> Hand.result task)

(* --- wrap_abort ----------------------------------------------------------- *)

let others () =
  traced [ "b"; "not d"; "not c"; "not a" ] @@ fun say ->
  let abort, wrap = events say in
  let alternatives =
    [
      abort "a" never;
      abort "b" (wrap "b" ready);
      abort "c" never;
      wrap "d" (abort "d" never);
    ]
  in
  int "value" 1 (Event.select alternatives)

let nested abort wrap event =
  Event.choose
    [
      abort "outer"
        (Event.choose [ abort "left" never; abort "right" (wrap "it" event) ]);
      abort "other" never;
    ]

let in_a_nest () =
  traced [ "it"; "not other"; "not left" ] @@ fun say ->
  let abort, wrap = events say in
  int "value" 1 (Event.sync (nested abort wrap ready))

let in_a_nest_waiting () =
  traced [ "resumed"; "it"; "not other"; "not left" ] @@ fun say ->
  let abort, wrap = events say in
  let box = Mvar.create_empty () in
  let event = nested abort wrap (Mvar.take_evt box) in
  let task = Hand.start (fun () -> Event.sync event) in
  Mvar.put box 1;
  say "resumed";
  Hand.settle ();
  int "value" 1 (Hand.result task)

let all_not = [ "not other"; "not right"; "not left"; "not outer" ]

let when_cancelled () =
  traced all_not @@ fun say ->
  let abort, wrap = events say in
  cancel (Hand.start (fun () -> Event.sync (nested abort wrap never)))

let when_polled () =
  traced (all_not @ [ "it"; "not other"; "not left" ]) @@ fun say ->
  let abort, wrap = events say in
  yes "nothing" (Event.poll (nested abort wrap never) = None);
  yes "ready" (Event.poll (nested abort wrap ready) = Some 1)

let alone () =
  traced [ "it"; "not alone"; "not alone" ] @@ fun say ->
  let abort, wrap = events say in
  int "ready" 1 (Event.sync (abort "alone" (wrap "it" ready)));
  yes "poll" (Event.poll (abort "alone" never) = None);
  cancel (Hand.start (fun () -> Event.sync (abort "alone" never)))

let twice_around_one () =
  traced [ "it"; "not inside"; "not outside" ] @@ fun say ->
  let abort, wrap = events say in
  let both event = abort "outside" (abort "inside" event) in
  int "ready" 1 (Event.sync (both (wrap "it" ready)));
  yes "poll" (Event.poll (both never) = None)

(* [wrap_withdraw] runs before the functions of [wrap], and even if one of those raises. *)
let withdrawn_first () =
  traced [ "withdrawn"; "b"; "not c"; "withdrawn"; "not c" ] @@ fun say ->
  let abort, wrap = events say in
  let withdraw = Event.wrap_withdraw never (fun () -> say "withdrawn") in
  let select event = Event.select [ withdraw; event; abort "c" never ] in
  int "value" 1 (select (wrap "b" ready));
  raises "the function" Boom (fun () ->
      select (Event.wrap ready (fun _ -> raise Boom)))

(* The same event is twice in one choice, but only one of the two was performed. *)
let same_event_twice () =
  traced [ "not a" ] @@ fun say ->
  let abort, _ = events say in
  let box = Mvar.create_empty () in
  let a = abort "a" (Mvar.take_evt box) in
  let task = Hand.start (fun () -> Event.select [ a; a ]) in
  Mvar.put box 1;
  Hand.settle ();
  int "value" 1 (Hand.result task);
  int "waiters" 0 (Mvar.waiters box)

(* The function runs in the task, so it may wait there and be cancelled. The operation has
   been performed nevertheless. *)
let abort_may_suspend () =
  traced [ "wrapped"; "aborting"; "aborted"; "wrapped"; "aborting" ]
  @@ fun say ->
  let start gate box =
    let wait () =
      say "aborting";
      Promise.await gate;
      say "aborted"
    and wrapped v =
      say "wrapped";
      v
    in
    let take = Event.wrap (Mvar.take_evt box) wrapped in
    Hand.start (fun () -> Event.select [ Event.wrap_abort never wait; take ])
  in
  let gate = Promise.create () in
  let task = start gate (Mvar.create 1) in
  int "at the gate" 1 (Promise.waiters gate);
  Promise.fill gate ();
  Hand.settle ();
  int "value" 1 (Hand.result task);
  let box = Mvar.create 1 in
  cancel (start (Promise.create ()) box);
  yes "taken" (Mvar.is_empty box)

let performed_with_an_exception () =
  traced [ "not b"; "not b" ] @@ fun say ->
  let abort, wrap = events say in
  let closed = Channel.create () in
  let select () =
    Event.select
      [ abort "a" (wrap "a" (Channel.receive_evt closed)); abort "b" never ]
  in
  let task = Hand.start select in
  Channel.close closed;
  Hand.settle ();
  raises "closed while it waits" Channel.Closed (fun () -> Hand.result task);
  raises "closed before" Channel.Closed select

let backtraces () =
  let failed = Promise.create () in
  let select event () = Event.select [ event; never ] in
  let waiting = Hand.start (select (Promise.await_evt failed)) in
  (try culprit () with Boom -> Promise.fail failed Boom);
  Hand.settle ();
  raises_at "culprit" (fun () -> Hand.result waiting);
  raises_at "culprit" (select (Promise.await_evt failed));
  let raise _ =
    culprit ();
    0
  in
  raises_at "culprit" (select (Event.wrap ready raise));
  let box = Mvar.create_empty () in
  let task = Hand.start (select (Event.wrap (Mvar.take_evt box) raise)) in
  Mvar.put box 1;
  Hand.settle ();
  raises_at "culprit" (fun () -> Hand.result task)

(* --- guard ---------------------------------------------------------------- *)

let anew () =
  traced [ "sync"; "select"; "poll" ] @@ fun say ->
  let doing = ref "" in
  let event =
    Event.guard (fun () ->
        say !doing;
        ready)
  in
  doing := "sync";
  int "sync" 1 (Event.sync event);
  doing := "select";
  int "select" 1 (Event.select [ event ]);
  doing := "poll";
  yes "poll" (Event.poll event = Some 1)

let in_the_order_of_the_list () =
  traced [ "a"; "b"; "c"; "not c"; "not b"; "not a" ] @@ fun say ->
  let abort, _ = events say in
  let guard name =
    Event.guard (fun () ->
        say name;
        abort name never)
  in
  let inner = Event.choose [ guard "b"; guard "c" ] in
  yes "poll" (Event.poll (Event.choose [ guard "a"; inner ]) = None)

let guard_may_suspend () =
  let gate = Promise.create () and box = Mvar.create 1 in
  let event =
    Event.guard (fun () ->
        Promise.await gate;
        Mvar.take_evt box)
  in
  let task = Hand.start (fun () -> Event.select [ never; event ]) in
  int "at the gate" 1 (Promise.waiters gate);
  int "nothing was performed" 0 (Mvar.swap box 0 - 1);
  Promise.fill gate ();
  Hand.settle ();
  int "value" 0 (Hand.result task);
  cancel
    (Hand.start (fun () ->
         let gate = Promise.create () in
         Event.sync (Event.guard (fun () -> Promise.await gate))))

let guard_raises () =
  let box = Mvar.create 1 in
  let bad =
    Event.guard (fun () ->
        culprit ();
        never)
  in
  let both = Event.choose [ Mvar.take_evt box; bad ] in
  raises_at "culprit" (fun () -> Event.sync both);
  raises_at "culprit" (fun () -> Event.poll both);
  raises_at "culprit" (fun () -> Event.sync bad);
  yes "nothing was performed" (Mvar.try_take box = Some 1)

(* --- All of them together ------------------------------------------------- *)

(* Functions apply from the inside out, through every kind of event. *)
let through_all () =
  let f c event = Event.wrap event (fun s -> s ^ c) in
  let event base =
    f "7"
      (Event.guard (fun () ->
           f "6"
             (Event.choose
                [
                  f "5" Event.never;
                  f "4"
                    (Event.wrap_abort
                       (f "3"
                          (Event.choose
                             [ f "2" (f "1" base); f "x" Event.never ]))
                       ignore);
                ])))
  in
  let check what = Alcotest.(check string) what "01234" in
  let strip s = String.sub s 0 5 in
  let all s =
    Alcotest.(check string) "all" "0123467" s;
    strip s
  in
  check "sync" (all (Event.sync (event (Event.always "0"))));
  check "poll" (all (Option.get (Event.poll (event (Event.always "0")))));
  let box = Mvar.create_empty () in
  let task = Hand.start (fun () -> Event.sync (event (Mvar.take_evt box))) in
  Mvar.put box "0";
  Hand.settle ();
  check "resumed" (all (Hand.result task))

(* If one function raises, the others still run, and the performed operation is completed. *)
let others_run_nevertheless () =
  let told = ref [] in
  let tell name = Event.wrap_abort never (fun () -> told := name :: !told) in
  let raises = Event.wrap_abort never culprit in
  let sync () = Event.select [ tell "1"; raises; tell "2"; ready ] in
  Alcotest.check_raises "raised" Boom (fun () -> ignore (sync () : int));
  Alcotest.(check (list string)) "both ran" [ "1"; "2" ] !told

let box_is_given_back () =
  let box = Mvar.create 1 in
  let raises = Event.wrap_abort never culprit in
  Alcotest.check_raises "raised" Boom (fun () ->
      ignore (Event.select [ Mvar.swap_evt box 2; raises ] : int));
  Alcotest.(check (option int)) "swapped" (Some 2) (Mvar.try_take box);
  let box = Mvar.create 1 in
  let looks = Event.wrap_abort never (fun () -> ignore (Mvar.read box : int)) in
  let task =
    Hand.start (fun () -> Event.select [ Mvar.swap_evt box 2; looks ])
  in
  Hand.settle ();
  Alcotest.(check int) "not held while the functions run" 1 (Hand.result task)

let mutex_is_locked_again () =
  let mutex = Mutex.create () and condition = Condition.create () in
  let channel = Channel.create () in
  let sends =
    Event.wrap_abort Event.never (fun () -> Channel.send channel ())
  in
  let task =
    Hand.start (fun () ->
        Mutex.lock mutex;
        Event.select [ Condition.wait_evt condition mutex; sends ])
  in
  Hand.stop task;
  Hand.settle ();
  Alcotest.check_raises "cancelled" Hand.Cancelled (fun () -> Hand.result task);
  Alcotest.(check bool) "locked" true (Mutex.is_locked mutex)

let () =
  run "Event: guard and wrap_abort"
    [
      ( "wrap_abort",
        [
          test "aborts of unperformed events run, latest first" others;
          test "nested: not around the performed event" in_a_nest;
          test "the same after waiting, in the task" in_a_nest_waiting;
          test "a cancelled choice aborts all" when_cancelled;
          test "a poll of unready events aborts all" when_polled;
          test "without a choice" alone;
          test "two around one event" twice_around_one;
          test "one event twice in a choice" same_event_twice;
          test "wrap_withdraw comes first" withdrawn_first;
          test "the function may suspend" abort_may_suspend;
          test "an exception counts as performed" performed_with_an_exception;
          test "exceptions keep their backtraces" backtraces;
          test "one raises: the others run" others_run_nevertheless;
          test "one raises: a box is given back" box_is_given_back;
          test "one is cancelled: a mutex is locked again" mutex_is_locked_again;
        ] );
      ( "guard",
        [
          test "the function is called each time" anew;
          test "the functions of a choice are called in order"
            in_the_order_of_the_list;
          test "the function may suspend" guard_may_suspend;
          test "the function raises: nothing is performed" guard_raises;
        ] );
      ("nests", [ test "functions apply from the inside out" through_all ]);
    ]
