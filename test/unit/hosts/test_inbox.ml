(* The queue of a loop by itself. [test/model/model_inbox] has several threads. *)

open Concord_test_support
open Check
module Inbox = Concord__Inbox

let posts t message posted =
  yes
    (Printf.sprintf "what is told of message %d" message)
    (Inbox.post t message = posted)

let serves t messages =
  let served = ref [] in
  while Inbox.serve t (fun v -> served := v :: !served) do
    ()
  done;
  Alcotest.(check (list int)) "served" messages (List.rev !served)

let is_empty () =
  let t = Inbox.create () in
  yes "at first" (Inbox.is_empty t);
  posts t 1 Posted;
  no "with a message" (Inbox.is_empty t);
  serves t [ 1 ];
  yes "after the message" (Inbox.is_empty t);
  yes "asleep" (Inbox.fall_asleep t);
  yes "asleep, too" (Inbox.is_empty t)

(* Who posts has to wake the loop if and only if it sleeps. *)
let asleep () =
  let t = Inbox.create () in
  yes "nothing to serve" (Inbox.fall_asleep t);
  posts t 1 Posted_to_sleeper;
  no "a message came" (Inbox.fall_asleep t);
  posts t 2 Posted;
  serves t [ 1; 2 ];
  yes "nothing to serve any more" (Inbox.fall_asleep t);
  Inbox.wake_up t;
  posts t 3 Posted;
  serves t [ 3 ]

(* A loop that is awake wakes up once more. *)
let awake () =
  let t = Inbox.create () in
  Inbox.wake_up t;
  posts t 1 Posted;
  Inbox.wake_up t;
  no "a message is there" (Inbox.fall_asleep t);
  serves t [ 1 ]

(* Its oldest cell is in the old generation. If no cell were cut off, then each collection
   would move all messages there. *)
let memory () =
  let t = Inbox.create () in
  Gc.full_major ();
  let messages = 100_000 in
  let before = (Gc.quick_stat ()).promoted_words in
  for i = 1 to messages do
    ignore (Inbox.post t i : Inbox.posted);
    if not (Inbox.serve t ignore) then Alcotest.fail "nothing"
  done;
  Gc.minor ();
  let promoted = (Gc.quick_stat ()).promoted_words -. before in
  int "served" messages (Inbox.served t);
  yes
    (Printf.sprintf "%.0f words stayed" promoted)
    (promoted < float messages /. 2.)

let () =
  run "Inbox"
    [
      ( "the loop",
        [
          test "is_empty" is_empty;
          test "it falls asleep" asleep;
          test "it is awake" awake;
          test "memory" memory;
        ] );
    ]
