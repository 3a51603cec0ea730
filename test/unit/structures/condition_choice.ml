(* Waiting for a signal as one of the alternatives of a choice. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let create () = (Condition.create (), Mutex.create ())
let waiting c n = int "waiters" n (Condition.waiters c)

(* Holds the mutex around a choice. Reports the chosen alternative while it holds the mutex
   again. *)
let chooser (c, m) box say =
  Hand.start @@ fun () ->
  Mutex.lock m;
  let chosen name () =
    yes "the mutex is locked" (Mutex.is_locked m);
    say name
  in
  Fun.protect
    (fun () ->
      Event.select
        [
          Event.wrap (Condition.wait_evt c m) (chosen "signal");
          Event.wrap (Mvar.take_evt box) (chosen "box");
        ])
    ~finally:(fun () ->
      say "unlocks";
      Mutex.unlock m)

let signalled () =
  traced [ "signal"; "unlocks" ] @@ fun say ->
  let ((c, m) as cm) = create () and box = Mvar.create_empty () in
  let task = chooser cm box say in
  waiting c 1;
  no "unlocked" (Mutex.is_locked m);
  Condition.signal c;
  yes "no task takes it" (Mvar.try_put box ());
  Hand.settle ();
  Hand.result task;
  yes "it is there" (Mvar.try_take box = Some ());
  no "unlocked" (Mutex.is_locked m)

let other_chosen () =
  traced [ "box"; "unlocks" ] @@ fun say ->
  let ((c, m) as cm) = create () and box = Mvar.create_empty () in
  let task = chooser cm box say in
  let next =
    Hand.start (fun () -> Mutex.protect m (fun () -> Condition.wait c m))
  in
  Mvar.put box ();
  Condition.signal c;
  Hand.settle ();
  Hand.result task;
  Hand.result next;
  waiting c 0;
  no "unlocked" (Mutex.is_locked m)

(* An alternative that is ready is chosen without unlocking the mutex. *)
let other_ready () =
  traced [ "box"; "unlocks"; "next" ] @@ fun say ->
  let ((c, m) as cm) = create () and box = Mvar.create () in
  Mutex.lock m;
  let task = chooser cm box say in
  let _next = Hand.start (fun () -> Mutex.protect m (fun () -> say "next")) in
  Mutex.unlock m;
  Hand.settle ();
  Hand.result task;
  waiting c 0

(* The mutex is held by another task, so the choice has to wait for it, whatever was chosen. *)
let busy decide result () =
  traced [ "the owner unlocks"; result; "unlocks" ] @@ fun say ->
  let ((c, m) as cm) = create () and box = Mvar.create_empty () in
  let task = chooser cm box say in
  Mutex.lock m;
  decide c box;
  Hand.stop task;
  Hand.settle ();
  int "it waits for the mutex" 1 (Mutex.waiters m);
  Hand.stop task;
  Hand.settle ();
  say "the owner unlocks";
  Mutex.unlock m;
  Hand.settle ();
  no "it has ended" (Hand.waits task);
  waiting c 0;
  int "withdrawn" 0 (Mvar.waiters box);
  no "unlocked" (Mutex.is_locked m)

let cancelled () =
  traced [ "the owner unlocks"; "unlocks" ] @@ fun say ->
  let ((c, m) as cm) = create () and box = Mvar.create_empty () in
  let task = chooser cm box say in
  Mutex.lock m;
  Hand.stop task;
  Hand.settle ();
  int "it waits for the mutex" 1 (Mutex.waiters m);
  waiting c 0;
  say "the owner unlocks";
  Mutex.unlock m;
  Hand.settle ();
  Hand.unwound task;
  no "unlocked" (Mutex.is_locked m)

let many_times () =
  traced [ "1"; "2" ] @@ fun say ->
  let c, m = create () in
  let event = Condition.wait_evt c m in
  let task =
    Hand.start @@ fun () ->
    Mutex.protect m @@ fun () ->
    Event.sync event;
    say "1";
    Event.sync (Event.choose [ event; Event.never ]);
    say "2"
  in
  for _ = 1 to 2 do
    waiting c 1;
    Condition.signal c;
    Hand.settle ()
  done;
  Hand.result task

let not_locked () =
  let c, m = create () and box : unit Mvar.t = Mvar.create_empty () in
  let task =
    Hand.start (fun () ->
        Event.select [ Condition.wait_evt c m; Mvar.take_evt box ])
  in
  raises "it raises" (Sys_error "Condition.wait: the mutex is not locked")
    (fun () -> Hand.result task);
  waiting c 0;
  int "withdrawn" 0 (Mvar.waiters box);
  no "not locked" (Mutex.is_locked m)

(* An alternative that is ready only for a moment. As soon as the task has unlocked the
   mutex, a faster one signals. *)
let gone_again (c, m) flag =
  let ready = ref true in
  let attempt () () =
    if Mutex.try_lock m then begin
      flag := true;
      Condition.signal c;
      Mutex.unlock m
    end;
    None
  and enlist () _ =
    let wait = not !ready in
    ready := false;
    wait
  in
  Event.make
    {
      Structure_kit.default with
      name = "test";
      how = By_hand { attempt; enlist; withdraw = (fun () _ -> ()) };
    }
    () ()

let begins_again () =
  (* The alternatives are tried in random orders, so this repeats. *)
  for _ = 1 to 100 do
    let ((c, m) as cm) = create () and flag = ref false in
    let event = gone_again cm flag in
    let task =
      Hand.start @@ fun () ->
      Mutex.protect m @@ fun () ->
      while not !flag do
        Event.select [ Condition.wait_evt c m; event ]
      done
    in
    if not !flag then begin
      flag := true;
      Condition.signal c
    end;
    Hand.settle ();
    no "a signal was missed" (Hand.waits task)
  done

(* Each of the two alternatives would unlock the mutex, so this is refused. *)
let twice_with_one_mutex () =
  let c, m = create () and other = Condition.create () in
  (* In a longer queue, one that withdraws is only counted. *)
  let wait_first condition =
    for _ = 1 to 20 do
      let wait () = Condition.wait_no_mutex condition in
      ignore (Hand.start wait : unit Hand.t)
    done
  in
  wait_first c;
  wait_first other;
  let task =
    Hand.start @@ fun () ->
    Mutex.lock m;
    Event.select [ Condition.wait_evt c m; Condition.wait_evt other m ]
  in
  raises "twice"
    (Invalid_argument
       "Condition.wait_evt: the mutex was unlocked after the choice began. Two \
        alternatives of one choice can't use the same mutex") (fun () ->
      Hand.result task);
  waiting c 20;
  waiting other 20;
  yes "it keeps its mutex" (Mutex.is_locked m)

let suite =
  ( "in a choice",
    [
      test "the signal is chosen" signalled;
      test "the other is chosen: the signal passes on" other_chosen;
      test "the other is ready: nothing is unlocked" other_ready;
      test "the signal, then the mutex is busy"
        (busy (fun c _ -> Condition.signal c) "signal");
      test "the other, then the mutex is busy"
        (busy (fun _ box -> Mvar.put box ()) "box");
      test "cancelled while the mutex is busy" cancelled;
      test "an event is used many times" many_times;
      test "the mutex must be locked" not_locked;
      test "not twice with one mutex" twice_with_one_mutex;
      test "no signal is missed when the choice begins again" begins_again;
    ] )
