(* Signal handlers that raise, at any moment, while waiters are resumed: each waiter
   is resumed all the same, and the exception arrives. *)

open Concord
open Concord_test_support
open Check

exception Interrupt

(* --- A task whose resumption is interrupted ------------------------------- *)

(* A host with a resumer as H2 asks it: if [strike], it raises after its decision, as
   if a signal handler did. *)
let wait ?(strike = false) operation =
  let open Effect.Deep in
  let ready = ref false in
  let handle (type a) (block : a Suspend.resumer -> a option)
      (_ : (a, unit) continuation) =
    let decided = ref false in
    let resumer _ =
      (not !decided)
      && begin
        decided := true;
        ready := true;
        if strike then raise Interrupt;
        true
      end
    in
    match block resumer with
    | None -> ()
    | Some _ -> Alcotest.fail "the operation did not wait"
  in
  match_with operation ()
    {
      retc = (fun () -> Alcotest.fail "the operation did not wait");
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Suspend.Suspend block ->
              Some (fun (k : (a, unit) continuation) -> handle block k)
          | _ -> None);
    };
  ready

(* Of five that wait, the resumptions of the second and the fourth are interrupted. *)
let all_are_resumed name operation finish =
  let ready = List.init 5 (fun i -> wait ~strike:(i = 1 || i = 3) operation) in
  raises (name ^ ": the exception") Interrupt finish;
  List.iteri
    (fun i ready -> yes (Printf.sprintf "%s: waiter %d" name i) !ready)
    ready

let every_structure () =
  let p = Promise.create () in
  all_are_resumed "Promise.fill"
    (fun () -> Promise.await p)
    (fun () -> Promise.fill p ());
  let p = Promise.create () in
  all_are_resumed "Promise.fail"
    (fun () -> Promise.await p)
    (fun () -> Promise.fail p Exit);
  let latch = Latch.create 1 in
  all_are_resumed "Latch.count_down"
    (fun () -> Latch.await latch)
    (fun () -> Latch.count_down latch);
  let c = Condition.create () and m = Mutex.create () in
  all_are_resumed "Condition.broadcast"
    (fun () ->
      Mutex.lock m;
      Condition.wait c m)
    (fun () -> Condition.broadcast c);
  let stream = Stream.create 1 in
  all_are_resumed "Stream.close, takers"
    (fun () -> Stream.take stream)
    (fun () -> Stream.close stream);
  let stream = Stream.create 1 in
  Stream.add stream ();
  all_are_resumed "Stream.close, adders"
    (fun () -> Stream.add stream ())
    (fun () -> Stream.close stream);
  Stream.take stream;
  raises "the stream is sealed" Stream.Closed (fun () -> Stream.take stream);
  let mailbox = Mailbox.create () in
  all_are_resumed "Mailbox.close"
    (fun () -> Mailbox.take mailbox)
    (fun () -> Mailbox.close mailbox);
  let channel = Channel.create () in
  all_are_resumed "Channel.close, receivers"
    (fun () -> Channel.receive channel)
    (fun () -> Channel.close channel);
  let channel = Channel.create () in
  all_are_resumed "Channel.close, senders"
    (fun () -> Channel.send channel ())
    (fun () -> Channel.close channel);
  let broadcast = Broadcast.create () in
  let subscription = Broadcast.subscribe broadcast in
  all_are_resumed "Broadcast.close, one subscription"
    (fun () -> Broadcast.receive subscription)
    (fun () -> Broadcast.close broadcast)

(* --- Signals at any moment ------------------------------------------------ *)

let armed = ref false
let main = Thread.id (Thread.self ())

(* Every tenth of a millisecond a signal comes, whose handler raises if it may. *)
let with_signals f =
  let handle _ =
    if !armed && Thread.id (Thread.self ()) = main then raise Interrupt
  in
  let before = Sys.signal Sys.sigalrm (Signal_handle handle) in
  let timer it_interval =
    ignore
      (Unix.setitimer ITIMER_REAL { it_interval; it_value = it_interval }
        : Unix.interval_timer_status)
  in
  timer 1e-4;
  Fun.protect f ~finally:(fun () ->
      timer 0.;
      Sys.set_signal Sys.sigalrm before)

(* [f ()], and whether it was interrupted. *)
let interrupted f =
  match
    armed := true;
    f ();
    armed := false
  with
  | () -> false
  | exception Interrupt ->
      armed := false;
      true

let rounds = 10_000
let crowd = 100

let stress name make =
  with_signals @@ fun () ->
  let hits = ref 0 in
  for round = 1 to rounds do
    let operation, finish, is_finished = make () in
    let ready = List.init crowd (fun _ -> wait operation) in
    if interrupted finish then incr hits;
    if not (is_finished ()) then finish ();
    if not (List.for_all ( ! ) ready) then
      Alcotest.failf "%s: a waiter was lost in round %d" name round
  done;
  Printf.printf "%s: interrupted %d times of %d\n%!" name !hits rounds

let fills () =
  stress "Promise.fill" (fun () ->
      let p = Promise.create () in
      ( (fun () -> Promise.await p),
        (fun () -> Promise.fill p ()),
        fun () -> Promise.is_resolved p ))

let closes () =
  stress "Stream.close" (fun () ->
      let stream = Stream.create 1 in
      ( (fun () -> Stream.take stream),
        (fun () -> Stream.close stream),
        fun () -> Stream.is_closed stream ))

(* Whoever unlocks and is interrupted may do it again if nothing has happened: never
   is a mutex locked by nobody while one waits for it. *)
let hand_overs () =
  with_signals @@ fun () ->
  let hits = ref 0 in
  for round = 1 to rounds do
    let m = Mutex.create () in
    Mutex.lock m;
    let ready = List.init crowd (fun _ -> wait (fun () -> Mutex.lock m)) in
    let served () = List.length (List.filter ( ! ) ready) in
    for i = 1 to crowd do
      if interrupted (fun () -> Mutex.unlock m) then begin
        incr hits;
        if served () < i then Mutex.unlock m
      end;
      if served () <> i then
        Alcotest.failf "round %d: %d were served, not %d" round (served ()) i
    done
  done;
  Printf.printf "Mutex.unlock: interrupted %d times of %d\n%!" !hits
    (rounds * crowd)

let () =
  run "signals"
    [
      ("resuming all", [ test "every structure" every_structure ]);
      ( "at any moment",
        [
          test "Promise.fill" fills;
          test "Stream.close" closes;
          test "Mutex.unlock" hand_overs;
        ] );
    ]
