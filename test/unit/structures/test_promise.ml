open Concord
open Concord_test_support
open Check

exception Boom

(* Not a tail call, and not inlined: it must be named in the backtrace. *)
let[@inline never] culprit () = if true then raise Boom
let waiting p n = int "waiters" n (Promise.waiters p)

let states () =
  let p = Promise.create () in
  yes "pending" (Promise.peek p = None && not (Promise.is_resolved p));
  Promise.fill p 1;
  yes "filled" (Promise.peek p = Some (Ok 1) && Promise.is_resolved p);
  let p = Promise.create () in
  Promise.fail p Boom;
  yes "failed" (Promise.peek p = Some (Error Boom) && Promise.is_resolved p);
  let p = Promise.of_value 2 in
  yes "from the start" (Promise.peek p = Some (Ok 2));
  int "await" 2 (Promise.await p)

let once () =
  let check p outcome =
    raises "fill" Promise.Already_filled (fun () -> Promise.fill p 8);
    raises "fail" Promise.Already_filled (fun () -> Promise.fail p Exit);
    no "try_fill" (Promise.try_fill p 8);
    no "try_fail" (Promise.try_fail p Exit);
    yes "unchanged" (Promise.peek p = Some outcome)
  in
  let p = Promise.create () in
  yes "try_fill" (Promise.try_fill p 7);
  check p (Ok 7);
  let p = Promise.create () in
  yes "try_fail" (Promise.try_fail p Boom);
  check p (Error Boom)

let arrival_order () =
  traced [ "a=5"; "b=5"; "c=5" ] @@ fun say ->
  let p = Promise.create () in
  let wait name =
    Hand.start (fun () -> say (Printf.sprintf "%s=%d" name (Promise.await p)))
  in
  let tasks = List.map wait [ "a"; "b"; "c" ] in
  waiting p 3;
  Promise.fill p 5;
  waiting p 0;
  yes "fill runs no task" (List.for_all Hand.waits tasks);
  Hand.settle ()

let filled_before_block () =
  let p = Promise.create () in
  let before_block () = Promise.fill p 3 in
  int "value" 3
    (Hand.result (Hand.start ~before_block (fun () -> Promise.await p)))

let failed_before_block () =
  let p = Promise.create () in
  let before_block () = try culprit () with e -> Promise.fail p e in
  let task = Hand.start ~before_block (fun () -> Promise.await p) in
  raises_at "culprit" (fun () -> Hand.result task)

let backtraces () =
  let p : int Promise.t = Promise.create () in
  let early = Hand.start (fun () -> Promise.await p) in
  (try culprit () with e -> Promise.fail p e);
  Hand.settle ();
  raises "waited" Boom (fun () -> Hand.result early);
  raises_at "culprit" (fun () -> Hand.result early);
  raises_at "culprit" (fun () -> Promise.await p);
  raises_at "culprit" (fun () -> Event.sync (Promise.await_evt p))

let given_backtrace () =
  let backtrace =
    try
      culprit ();
      Printexc.get_callstack 0
    with Boom -> Printexc.get_raw_backtrace ()
  in
  (* Another exception comes in between. *)
  (try raise Exit with Exit -> ());
  let p = Promise.create () in
  Promise.fail ~backtrace p Boom;
  raises_at "culprit" (fun () -> Promise.await p)

let cancelled () =
  traced [ "a"; "c" ] @@ fun say ->
  let p = Promise.create () in
  let wait name =
    Hand.start (fun () ->
        Promise.await p;
        say name)
  in
  let _a = wait "a" and b = wait "b" and _c = wait "c" in
  yes "cancel" (Hand.cancel b);
  Hand.settle ();
  raises "b" Hand.Cancelled (fun () -> Hand.result b);
  waiting p 2;
  Promise.fill p ();
  Hand.settle ()

let resumed_then_cancelled () =
  let p = Promise.create () in
  let task = Hand.start (fun () -> Promise.await p) in
  Promise.fill p 9;
  no "cancelled after the resumption" (Hand.cancel task);
  Hand.settle ();
  int "value" 9 (Hand.result task)

let cancelled_then_filled () =
  let p = Promise.create () in
  let task = Hand.start (fun () -> Promise.await p) in
  yes "cancel" (Hand.cancel task);
  Promise.fill p 9;
  Hand.settle ();
  raises "the task" Hand.Cancelled (fun () -> Hand.result task);
  int "the value stays" 9 (Promise.await p)

let cancelled_in_bulk await =
  let p : int Promise.t = Promise.create () in
  let empty = words p in
  let wait () = Hand.start (fun () -> await p) in
  for _ = 1 to 10_000 do
    let task = wait () in
    ignore (Hand.cancel task);
    Hand.settle ()
  done;
  waiting p 0;
  int "one by one: words" empty (words p);
  let tasks = List.init 10_000 (fun _ -> wait ()) in
  waiting p 10_000;
  List.iter (fun task -> ignore (Hand.cancel task)) tasks;
  Hand.settle ();
  waiting p 0;
  int "all at once: words" empty (words p)

let live_among_cancelled () =
  let p = Promise.create () in
  let woken = ref [] in
  let wait i =
    Hand.start (fun () ->
        Promise.await p;
        woken := i :: !woken)
  in
  let live = List.init 10 (fun i -> wait i) in
  let words_of_ten = words p in
  let rest = List.init 10_000 (fun i -> (i, wait (10 + i))) in
  let cancel (i, task) = if i mod 1000 <> 0 then ignore (Hand.cancel task) in
  List.iter cancel rest;
  Hand.settle ();
  waiting p 20;
  yes "memory is proportional to the live waiters" (words p < 10 * words_of_ten);
  Promise.fill p ();
  Hand.settle ();
  no "all were woken" (List.exists Hand.waits live);
  Alcotest.(check (list int))
    "in the order of arrival"
    (List.init 10 Fun.id @ List.init 10 (fun i -> 10 + (1000 * i)))
    (List.rev !woken)

let events () =
  let p = Promise.create () in
  let event = Promise.await_evt p in
  yes "pending" (Event.poll event = None);
  let task = Hand.start (fun () -> Event.sync event) in
  waiting p 1;
  Promise.fill p 4;
  Hand.settle ();
  int "synced" 4 (Hand.result task);
  yes "polled" (Event.poll event = Some 4);
  int "again" 4 (Event.sync event)

let threads_and_domains () =
  let p = Promise.create () in
  let sum = Atomic.make 0 in
  let wait () = ignore (Atomic.fetch_and_add sum (Promise.await p)) in
  let threads = List.init 4 (fun _ -> Thread.create wait ()) in
  let domain = Domain.spawn wait in
  eventually "all wait" (fun () -> Promise.waiters p = 5);
  in_domain (fun () -> Promise.fill p 10);
  List.iter Thread.join threads;
  Domain.join domain;
  int "sum" 50 (Atomic.get sum)

let from_a_signal_handler () =
  let p = Promise.create () in
  let fill _ = Promise.fill p "signal" in
  let previous = Sys.signal Sys.sigusr1 (Signal_handle fill) in
  let thread = Thread.create (fun () -> Promise.await p) () in
  eventually "it waits" (fun () -> Promise.waiters p = 1);
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  Thread.join thread;
  Sys.set_signal Sys.sigusr1 previous;
  yes "filled" (Promise.peek p = Some (Ok "signal"))

let () =
  run "Promise"
    [
      ( "outcome",
        [
          test "peek and is_resolved tell the state" states;
          test "it is resolved once" once;
          test "filled between the look and the registration"
            filled_before_block;
          test "failed between the look and the registration"
            failed_before_block;
          test "a failure keeps its backtrace" backtraces;
          test "a failure takes the backtrace that is given" given_backtrace;
        ] );
      ( "waiting",
        [
          test "waiters are resumed in the order of arrival" arrival_order;
          test "await_evt polls, and syncs many times" events;
          test "threads and domains wait, a domain fills" threads_and_domains;
          test "it can be filled in a signal handler" from_a_signal_handler;
        ] );
      ( "cancellation",
        [
          test "a cancelled waiter is withdrawn, the others keep their turn"
            cancelled;
          test "resumed, then cancelled: has its value" resumed_then_cancelled;
          test "cancelled, then filled: raises" cancelled_then_filled;
          test "10,000 cancelled awaits leave no memory" (fun () ->
              cancelled_in_bulk Promise.await);
          test "10,000 cancelled events leave no memory" (fun () ->
              cancelled_in_bulk (fun p -> Event.sync (Promise.await_evt p)));
          test "live waiters among 10,000 cancelled ones" live_among_cancelled;
        ] );
    ]
