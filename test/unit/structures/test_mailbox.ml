open Concord
open Concord_test_support
open Check

let ints what = Alcotest.(check (list int)) what

(* A finaliser may wake a task. *)
let in_a_finaliser () =
  let t = Mailbox.create () in
  let task = Hand.start (fun () -> Mailbox.take t) in
  for i = 1 to 10 do
    Gc.finalise (fun r -> Mailbox.add t !r) (ref i)
  done;
  Gc.full_major ();
  Gc.full_major ();
  Hand.settle ();
  let all = Hand.result task :: Mailbox.drain t in
  ints "all" (List.init 10 succ) (List.sort compare all)

(* A signal handler may wake a task too, between any two steps of other tasks. *)
let in_a_signal_handler () =
  let t = Mailbox.create () and ticks = ref 0 and put = ref 0 in
  let is_busy = ref false in
  let handler _ =
    (* A handler that interrupts another one would put its number first, so it does nothing. *)
    if not !is_busy then (
      is_busy := true;
      incr ticks;
      Mailbox.add t !ticks;
      is_busy := false)
  in
  let before = Sys.signal Sys.sigalrm (Signal_handle handler) in
  let set it_interval =
    let timer = Unix.{ it_interval; it_value = it_interval } in
    ignore (Unix.setitimer ITIMER_REAL timer : Unix.interval_timer_status)
  in
  let ours = ref [] and theirs = ref [] in
  let took v = if v > 0 then theirs := v :: !theirs else ours := v :: !ours in
  set 0.0002;
  let deadline = Unix.gettimeofday () +. 20. in
  while !ticks < 300 && Unix.gettimeofday () < deadline do
    decr put;
    Mailbox.add t !put;
    Option.iter took (Mailbox.try_take t)
  done;
  set 0.;
  Sys.set_signal Sys.sigalrm before;
  no "items are left" (Mailbox.is_empty t);
  List.iter took (Mailbox.drain t);
  yes "it is empty" (Mailbox.is_empty t);
  yes "it was interrupted" (!ticks >= 300);
  yes "the handler's, in order" (List.rev !theirs = List.init !ticks succ);
  yes "the others, in order"
    (List.rev !ours = List.init (- !put) (fun i -> -i - 1))

let () =
  run "Mailbox"
    [
      ( "operations",
        [
          test "put in a finaliser" in_a_finaliser;
          test "put in a signal handler" in_a_signal_handler;
        ] );
    ]
