(* The event that a lazy value has been forced. *)

open Concord
open Concord_test_support
open Check

exception Boom

let counted f =
  let runs = ref 0 in
  let compute () =
    incr runs;
    f ()
  in
  (Lazy.from_fun compute, runs)

let sync t = Event.sync (Lazy.await_evt t)
let poll t = Event.poll (Lazy.await_evt t)
let watch t = Hand.start (fun () -> sync t)

let passive () =
  let t, runs = counted (fun () -> 1) in
  let watchers = List.init 2 (fun _ -> watch t) in
  yes "poll" (poll t = None);
  Hand.settle ();
  yes "they wait" (List.for_all Hand.waits watchers);
  int "it was not begun" 0 !runs;
  int "waiters" 2 (Lazy.waiters t);
  int "force" 1 (Lazy.force t);
  Hand.settle ();
  List.iter (fun task -> int "watcher" 1 (Hand.result task)) watchers;
  yes "poll" (poll t = Some 1);
  int "sync" 1 (sync t)

let during () =
  let gate = Promise.create () in
  let t, runs = counted (fun () -> Promise.await gate) in
  let forcer = Hand.start (fun () -> Lazy.force t) in
  let watcher = watch t in
  yes "poll" (poll t = None);
  Promise.fill gate 2;
  Hand.settle ();
  int "forcer" 2 (Hand.result forcer);
  int "watcher" 2 (Hand.result watcher);
  int "computed" 1 !runs

(* The event isn't ready in the value's own computation. *)
let within () =
  let self = ref Event.never in
  let t, _ = counted (fun () -> Event.poll !self = None) in
  self := Lazy.await_evt t;
  yes "not ready" (Lazy.force t);
  yes "ready" (Event.sync !self)

let failed () =
  let t, _ = counted (fun () -> raise Boom) in
  let watcher = watch t in
  raises "force" Boom (fun () -> Lazy.force t);
  Hand.settle ();
  raises "watcher" Boom (fun () -> Hand.result watcher);
  raises "poll" Boom (fun () -> poll t);
  raises "sync" Boom (fun () -> sync t)

let select t box =
  Hand.start (fun () ->
      Event.select
        [
          Event.wrap (Lazy.await_evt t) (fun _ -> "lazy");
          Event.wrap (Mvar.take_evt box) (fun () -> "box");
        ])

(* [lose] makes the task leave the choice. *)
let leaves_nothing lose () =
  let t, runs = counted (fun () -> 1) and box = Mvar.create_empty () in
  let round () =
    let task = select t box in
    lose box task;
    Hand.settle ();
    no "it has left" (Hand.waits task)
  in
  let before = words t in
  round ();
  int "words" before (words t);
  for _ = 1 to 1000 do
    round ()
  done;
  int "words, after many" before (words t);
  (* Here another watcher stays. *)
  let stays = watch t in
  let before = words t in
  round ();
  yes "words, beside another" (words t <= 2 * before);
  int "not begun" 0 !runs;
  ignore (Lazy.force t : int);
  Hand.settle ();
  int "the watcher that stayed" 1 (Hand.result stays)

let lost box task =
  Mvar.put box ();
  Hand.settle ();
  Alcotest.(check string) "winner" "box" (Hand.result task)

let cancelled (_ : unit Mvar.t) task = yes "cancel" (Hand.cancel task)

let wins () =
  let t, _ = counted (fun () -> 1) and box = Mvar.create_empty () in
  let task = select t box in
  ignore (Lazy.force t : int);
  yes "no task takes it" (Mvar.try_put box ());
  Hand.settle ();
  Alcotest.(check string) "winner" "lazy" (Hand.result task);
  yes "it is there" (Mvar.try_take box = Some ());
  Alcotest.(check string) "at once" "lazy" (Hand.result (select t box))

let sync_before () =
  let gate = Promise.create () in
  let t, runs = counted (fun () -> Promise.await gate) in
  let before = words t in
  let within seconds = Event.sync_before seconds (Lazy.await_evt t) in
  yes "not forced" (within 0.002 = None);
  int "not begun" 0 !runs;
  int "no watcher" before (words t);
  let join = thread (fun () -> ignore (Lazy.force t : int)) in
  eventually "begun" (fun () -> !runs = 1);
  yes "being forced" (within 0.002 = None);
  beside
    (fun () -> Promise.fill gate 6)
    (fun () -> yes "in time" (within 20. = Some 6));
  join ();
  yes "ready" (within (-1.) = Some 6)

let suite =
  ( "await_evt",
    [
      test "waits for a task to force it" passive;
      test "while it is being forced" during;
      test "in its own computation" within;
      test "of a failure" failed;
      test "a lost choice leaves nothing" (leaves_nothing lost);
      test "a cancelled choice leaves nothing" (leaves_nothing cancelled);
      test "wins a choice" wins;
      test "with a timeout" sync_before;
    ] )
