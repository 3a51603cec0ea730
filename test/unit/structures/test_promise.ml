open Concord
open Concord_test_support
open Check

exception Boom

(* Neither a tail call nor inlined, because the backtrace must name it. *)
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
  (* Another exception in between must not replace the backtrace. *)
  (try raise Exit with Exit -> ());
  let p = Promise.create () in
  Promise.fail ~backtrace p Boom;
  raises_at "culprit" (fun () -> Promise.await p)

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

(* As documented, [fail_waiters] also counts tasks that were cancelled but not unwound. *)
let failed_waiters () =
  let p : unit Promise.t = Promise.create () in
  let task = Hand.start (fun () -> Promise.await p) in
  yes "cancel" (Hand.cancel task);
  int "told" 1 (Promise.fail_waiters p Not_found);
  Hand.settle ();
  Hand.unwound task;
  waiting p 0

let () =
  run "Promise"
    [
      ( "outcome",
        [
          test "peek and is_resolved return the state" states;
          test "it is resolved once" once;
          test "a failure keeps its backtrace" backtraces;
          test "a failure takes the backtrace that is given" given_backtrace;
          test "fail_waiters returns how many wait" failed_waiters;
        ]
        @ unless_debugged
            (test "failed between the look and the registration"
               failed_before_block) );
      ( "waiting",
        [
          test "await_evt polls, and syncs many times" events;
          test "threads and domains wait, a domain fills" threads_and_domains;
          test "it can be filled in a signal handler" from_a_signal_handler;
        ] );
    ]
