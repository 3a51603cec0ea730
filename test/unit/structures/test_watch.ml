open Concord
open Concord_test_support
open Check

let since t = snd (Watch.read t)

let latest () =
  let t = Watch.create 1 in
  int "the first" 1 (Watch.get t);
  let _, seen = Watch.read t in
  yes "it has not changed" (Event.poll (Watch.changed_evt t ~since:seen) = None);
  Watch.set t 2;
  Watch.set t 3;
  int "the latest" 3 (Watch.get t);
  let v, now = Watch.changed t ~since:seen in
  int "the second is missed" 3 v;
  yes "its version" (now = since t);
  yes "seen" (Event.poll (Watch.changed_evt t ~since:now) = None);
  yes "tried" (Watch.try_changed t ~since:seen = Some (v, now));
  yes "tried in vain" (Watch.try_changed t ~since:now = None);
  Watch.set t 3;
  int "the same value is a change" 3 (fst (Watch.changed t ~since:now))

let ends () =
  let t = Watch.create 1 in
  let seen = since t in
  let waiting = Hand.start (fun () -> fst (Watch.changed t ~since:seen)) in
  Watch.set t 2;
  let last = since t in
  let at_end = Hand.start (fun () -> fst (Watch.changed t ~since:last)) in
  no "open" (Watch.is_closed t);
  Watch.close t;
  Watch.close t;
  yes "closed" (Watch.is_closed t);
  Hand.settle ();
  int "the change" 2 (Hand.result waiting);
  raises "the end" Watch.Closed (fun () -> Hand.result at_end);
  int "a task that has not seen the last one gets it" 2
    (fst (Watch.changed t ~since:seen));
  raises "and then the end" Watch.Closed (fun () -> Watch.changed t ~since:last);
  raises "nothing can be set" Watch.Closed (fun () -> Watch.set t 3);
  int "the last value" 2 (Watch.get t);
  raises "the exception of all queues" Stream.Closed (fun () -> Watch.set t 3)

(* A task that follows the values sees them in order, and sees the last one. *)
let domains () =
  let n = 3_000 and t = Watch.create 0 in
  let wrong = Atomic.make 0 and ended = Atomic.make 0 in
  let start = since t in
  let follow () =
    let rec go last since =
      match Watch.changed t ~since with
      | v, since ->
          if v <= last then Atomic.incr wrong;
          go v since
      | exception Watch.Closed -> if last = n then Atomic.incr ended
    in
    go 0 start
  in
  let join = domain (fun () -> Concord_fifo.run follow) in
  let joins = [ join; thread follow; thread follow ] in
  for i = 1 to n do
    Watch.set t i
  done;
  Watch.close t;
  List.iter (fun join -> join ()) joins;
  int "out of order" 0 (Atomic.get wrong);
  int "all saw the last one" 3 (Atomic.get ended)

let no_effect () =
  let t = Watch.create 0 in
  let seen = since t in
  let task = Hand.start (fun () -> fst (Watch.changed t ~since:seen)) in
  int "waiters" 1 (Watch.waiters t);
  Watch.set t 1;
  int "value" 1 (fst (Watch.changed t ~since:seen));
  Watch.close t;
  Hand.settle ();
  int "changed" 1 (Hand.result task)

let () =
  run "Watch"
    [
      ( "operations",
        [
          test "the latest value" latest;
          test "closing" ends;
          test "threads and domains" domains;
        ] );
      Outside.suite no_effect;
    ]
