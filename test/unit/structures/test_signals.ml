(* Signal handlers that raise, at any moment, while waiters are resumed: each waiter
   is resumed all the same, and the exception arrives. *)

open Concord
open Concord_test_support
open Check

exception Interrupt

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
    let ready = List.init crowd (fun _ -> Hand.watch operation) in
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
let hand_overs ?(rounds = rounds) lock () =
  with_signals @@ fun () ->
  let hits = ref 0 in
  for round = 1 to rounds do
    let m = Mutex.create () in
    Mutex.lock m;
    let ready = List.init crowd (fun _ -> Hand.watch (fun () -> lock m)) in
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

let choose m = Event.select [ Mutex.lock_evt m; Event.never ]

let () =
  run "signals"
    [
      ( "at any moment",
        [
          test "Promise.fill" fills;
          test "Stream.close" closes;
          test "Mutex.unlock" (hand_overs Mutex.lock);
          test "Mutex.unlock, choices" (hand_overs ~rounds:2_000 choose);
        ] );
    ]
