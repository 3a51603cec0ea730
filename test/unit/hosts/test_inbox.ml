(* The queue of a loop, in one thread. [test/model/model_inbox] runs it with several. *)

open Concord_test_support
open Check
module Inbox = Concord__core__Inbox

let posts t message posted =
  yes
    (Printf.sprintf "the answer about message %d" message)
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

(* A thread that posts has to wake the loop if and only if the loop sleeps. *)
let asleep () =
  let t = Inbox.create () in
  yes "nothing to serve" (Inbox.fall_asleep t);
  posts t 1 Posted_to_sleeper;
  no "a message came" (Inbox.fall_asleep t);
  posts t 2 Posted;
  serves t [ 1; 2 ];
  yes "nothing left to serve" (Inbox.fall_asleep t);
  Inbox.wake_up t;
  posts t 3 Posted;
  serves t [ 3 ]

(* The loop wakes up once more although it is awake. *)
let awake () =
  let t = Inbox.create () in
  Inbox.wake_up t;
  posts t 1 Posted;
  Inbox.wake_up t;
  no "a message is there" (Inbox.fall_asleep t);
  serves t [ 1 ]

(* The oldest cell is in the old generation. If served cells weren't cut off from it, each
   collection would move all messages there. *)
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

(* --- A resumer that signal handlers interrupt ----------------------------------------- *)

module Decision = Concord__core__Decision
module Late = Concord__core__Late

let garbage () = ignore (Sys.opaque_identity (ref 0) : int ref)

(* Wherever a handler raises, four things happen together. The caller learns that it resumed
   the task, the decision is made, the message is posted, and the loop is woken. *)
let resumed_interrupted () =
  Interrupting.at_every_allocation @@ fun () ->
  let t = Inbox.create () and decision = Decision.create () in
  yes "asleep" (Inbox.fall_asleep t);
  let told = ref false and woken = ref false in
  let wake () =
    garbage ();
    woken := true;
    garbage ()
  and message _ =
    garbage ();
    1
  in
  let resumer = Inbox.resumer t ~wake decision message and outcome = Ok 42 in
  let resume armed =
    armed := true;
    (match resumer outcome with
    | resumed -> told := resumed
    | exception Exit -> told := true);
    armed := false
  and check what =
    yes (what ^ ": answered true") !told;
    yes (what ^ ": decided") (Decision.outcome decision = Ok 42);
    yes (what ^ ": woken") !woken;
    serves t [ 1 ]
  in
  (resume, check)

(* Another thread decides while the message is prepared. So the resumer refuses, and the
   thread's next wait raises the handler's exception. *)
let refused_interrupted () =
  let t = Inbox.create () and decision = Decision.create () in
  let prepared = ref 0 in
  let message _ =
    incr prepared;
    ignore (Decision.decide decision (Ok 1) : bool);
    if !prepared = 1 then raise Exit else 2
  in
  no "told" (Inbox.resumer t ~wake:ignore decision message (Ok 2));
  raises "the next wait" Exit Late.raise_kept;
  serves t []

(* [insist] makes one resumer from another. An exception of the inner one is raised after it
   has resumed. *)
let made_of_another () =
  let resumed = ref 0 in
  let resumer (v : int) =
    resumed := v;
    raise Exit
  in
  raises "as it is" Exit (fun () -> Decision.insist succ resumer 1);
  int "resumed" 2 !resumed;
  let tries = ref 0 in
  let prepare v =
    incr tries;
    if !tries < 3 then raise Exit else v
  in
  raises "it was interrupted" Exit (fun () ->
      Decision.insist prepare (fun _ -> true) 1);
  int "tries" 3 !tries;
  tries := 0;
  no "refused" (Decision.insist prepare (fun _ -> false) 1);
  raises "the next wait" Exit Late.raise_kept

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
      ( "signal handlers",
        Interrupting.only (test "resumed" resumed_interrupted)
        @ [
            test "refused" refused_interrupted;
            test "made of another" made_of_another;
          ] );
    ]
