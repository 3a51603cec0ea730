open Concord
open Concord.Tools
open Concord_test_support
open Concord_test_hosts
open Check
open Tasks_cases

let after seconds f () =
  Tasks.sleep seconds;
  f ()

let is_drained what value (ended : _ Shutdown.ended) =
  yes (what ^ ": value") (ended.value = Some value);
  no (what ^ ": cut short") ended.cut_short;
  yes (what ^ ": failures") (ended.failures = [])

(* --- The service drains in time --------------------------------------------- *)

let drained () =
  traced [ "main"; "close a"; "close b"; "x"; "end" ] @@ fun say ->
  let stop = Promise.create () and jobs = Mailbox.create () in
  let main () =
    say "main";
    Promise.fill stop ();
    Mailbox.iter say jobs;
    say "end";
    7
  in
  let close =
    [
      (fun () -> say "close a");
      (fun () ->
        say "close b";
        Mailbox.add jobs "x";
        Mailbox.close jobs);
    ]
  in
  is_drained "drained" 7 (Shutdown.run ~close ~stop ~grace:60. main)

let closers_wait () =
  traced [ "a"; "main has ended"; "b" ] @@ fun say ->
  let stop = Promise.of_value () and gate = Promise.create () in
  let ended = Promise.create () in
  let main () =
    Promise.await gate;
    say "main has ended";
    Promise.fill ended ()
  in
  let close =
    [
      (fun () ->
        say "a";
        Promise.fill gate ();
        Promise.await ended);
      (fun () -> say "b");
    ]
  in
  is_drained "drained" () (Shutdown.run ~close ~stop ~grace:60. main)

let main_is_first () =
  let closed = ref 0 in
  let stop : unit Promise.t = Promise.create () in
  let close = [ (fun () -> incr closed) ] in
  is_drained "ended" 1 (Shutdown.run ~close ~stop ~grace:0. (fun () -> 1));
  int "closed" 1 !closed;
  int "no task waits for stop" 0 (Promise.waiters stop);
  is_drained "nothing to close" 2
    (Shutdown.run ~stop ~grace:infinity (fun () -> 2))

let stop_fails () =
  let stop : unit Promise.t = Promise.create () and gate = Promise.create () in
  Promise.fail stop Exit;
  is_drained "a failure is a stop" ()
    (Shutdown.run ~stop ~grace:60.
       ~close:[ Promise.fill gate ]
       (fun () -> Promise.await gate))

(* --- Failures ---------------------------------------------------------------- *)

let closers_fail () =
  let stop = Promise.of_value () and gate = Promise.create () in
  let ended =
    Shutdown.run ~stop ~grace:60.
      ~close:[ explode; Promise.fill gate; (fun () -> raise Bang) ]
      (fun () -> Promise.await gate)
  in
  yes "value" (ended.value = Some ());
  no "cut short" ended.cut_short;
  yes "failures" (List.map fst ended.failures = [ Boom; Bang ]);
  let _, backtrace = List.hd ended.failures in
  yes "its backtrace"
    (contains (Printexc.raw_backtrace_to_string backtrace) "explode")

let main_fails () =
  let closed = ref 0 in
  let close = [ (fun () -> incr closed); (fun () -> raise Bang) ] in
  let stop : unit Promise.t = Promise.create () in
  raises "before stop" Boom (fun () ->
      Shutdown.run ~close ~stop ~grace:60. explode);
  int "closed" 1 !closed;
  let gate = Promise.create () in
  raises "when its listener is closed" Boom (fun () ->
      Shutdown.run ~stop:(Promise.of_value ()) ~grace:60.
        ~close:(Promise.fill gate :: close) (fun () ->
          Promise.await gate;
          explode ()));
  int "closed again" 2 !closed

(* --- The service is cut short ------------------------------------------------- *)

let stopped = Promise.of_value ()

let main_hangs () =
  let unwound = ref 0 in
  List.iter
    (fun grace ->
      let ended =
        Shutdown.run ~stop:stopped ~grace (fun () -> counting unwound never)
      in
      yes "no value" (Option.is_none ended.value);
      yes "cut short" ended.cut_short;
      yes "no failure" (ended.failures = []))
    [ 0.; 0.002 ];
  int "unwound" 2 !unwound

let closer_hangs () =
  let unwound = ref 0 and after_it = ref 0 in
  let close =
    [
      (fun () -> counting unwound never);
      (fun () -> incr after_it);
      (fun () -> counting unwound never);
      (fun () -> incr after_it);
      explode;
    ]
  in
  let ended =
    Shutdown.run ~close ~stop:stopped ~grace:0.002 (fun () ->
        counting unwound never)
  in
  yes "cut short" ended.cut_short;
  int "unwound" 3 !unwound;
  int "the closers after it" 2 !after_it;
  yes "a failure" (List.map fst ended.failures = [ Boom ])

let late_value () =
  let ended =
    Shutdown.run ~stop:stopped ~grace:0. (fun () ->
        try never () with e when e <> Boom -> 5)
  in
  yes "cut short" ended.cut_short;
  yes "its value" (ended.value = Some 5)

let late_failure () =
  raises "its failure" Boom (fun () ->
      Shutdown.run ~stop:stopped ~grace:0. (fun () ->
          try never () with e when e <> Boom -> explode ()))

let closes_in_time () =
  let gate = Promise.create () in
  is_drained "grace 0, nothing waits" ()
    (Shutdown.run ~stop:stopped ~grace:0. ~close:[ Promise.fill gate ] ignore);
  let gate = Promise.create () in
  is_drained "infinity" ()
    (Shutdown.run ~stop:stopped ~grace:infinity
       ~close:[ after 0.002 (Promise.fill gate) ]
       (fun () -> Promise.await gate))

let protected_main () =
  let gate = Promise.create () in
  let ended =
    Shutdown.run ~stop:stopped ~grace:0. ~close:[ Fun.id ] (fun () ->
        Suspend.protect (fun () ->
            Event.sync (Event.timeout 0.002);
            Promise.fill gate ());
        3)
  in
  yes "it was waited for" (Promise.is_resolved gate);
  yes "its value" (ended.value = Some 3)

let bad_grace () =
  List.iter
    (fun grace ->
      match Shutdown.run ~stop:stopped ~grace ignore with
      | _ -> Alcotest.failf "grace %g is not refused" grace
      | exception Invalid_argument text ->
          yes text (contains text "Shutdown.run" && contains text "grace"))
    [ -1.; nan; neg_infinity ]

let cases =
  [
    ("drained", drained);
    ("functions that wait", closers_wait);
    ("main is first", main_is_first);
    ("stop fails", stop_fails);
    ("close fails", closers_fail);
    ("main fails", main_fails);
    ("main hangs", main_hangs);
    ("close hangs", closer_hangs);
    ("a value that is late", late_value);
    ("a failure that is late", late_failure);
    ("in time", closes_in_time);
    ("protected", protected_main);
    ("bad grace", bad_grace);
  ]

let everywhere (name, place) =
  (name, List.map (fun (name, case) -> test name (fun () -> place case)) cases)

(* --- The caller is cancelled -------------------------------------------------- *)

let cancelled ~after_stop (host : Cancelling.host) () =
  host.run @@ fun () ->
  let stop = Promise.create () and called = ref [] and unwound = ref 0 in
  let say name = called := name :: !called in
  let raised = ref None in
  let close =
    [
      (fun () ->
        say "a";
        counting unwound never);
      (fun () -> say "b");
    ]
  in
  let body () =
    match
      Shutdown.run ~close ~stop ~grace:infinity (fun () ->
          counting unwound never)
    with
    | (_ : unit Shutdown.ended) -> ()
    | exception e ->
        raised := Some e;
        raise e
  in
  let cancel =
    host.fork (fun () -> try body () with e when host.is_cancellation e -> ())
  in
  if after_stop then begin
    Promise.fill stop ();
    Cancelling.until host "it is closing" (fun () -> !called = [ "a" ])
  end
  else Cancelling.until host "it waits" (fun () -> Promise.waiters stop = 1);
  cancel ();
  Cancelling.until host "it has ended" (fun () -> Option.is_some !raised);
  yes "the host's exception" (host.is_cancellation (Option.get !raised));
  strings "each once" [ "a"; "b" ] (List.rev !called);
  int "unwound" 2 !unwound

(* The functions of a service whose task was cancelled before it began. The cancellation was
   raised once, and caught. *)
let service_of_cancelled () =
  let called = ref [] and unwound = ref 0 and result = ref None in
  let say name = called := name :: !called in
  let close =
    [
      (fun () ->
        say "a";
        counting unwound never);
      (fun () -> say "b");
      (fun () ->
        say "c";
        explode ());
      (fun () -> say "d");
    ]
  in
  let main () = counting unwound never in
  let run () =
    (try never () with _ -> ());
    match
      Shutdown.run ~close ~stop:(Promise.create ()) ~grace:infinity main
    with
    | (_ : unit Shutdown.ended) -> result := Some None
    | exception e ->
        result := Some (Some e);
        raise e
  and check ~is_cancellation =
    (match Option.get !result with
    | Some e -> yes "the cancellation" (is_cancellation e)
    | None -> Alcotest.fail "it has returned");
    strings "each once" [ "a"; "b"; "c"; "d" ] (List.rev !called);
    yes "all have unwound" (!unwound = 1 || !unwound = 2)
  in
  (run, (fun () -> Option.is_some !result), check)

let cancelled_before (host : Cancelling.host) () =
  host.run @@ fun () ->
  let run, has_ended, check = service_of_cancelled () in
  let cancel =
    host.fork (fun () -> try run () with e when host.is_cancellation e -> ())
  in
  cancel ();
  Cancelling.until host "it has ended" has_ended;
  check ~is_cancellation:host.is_cancellation

(* Everywhere, a task can be cancelled by a timeout. *)
let too_late () =
  let run, _, check = service_of_cancelled () in
  yes "the time is over" (Option.is_none (Tasks.with_timeout 0.002 run));
  check ~is_cancellation:(fun e -> e <> Boom)

let too_late_everywhere (name, place) =
  test ("in " ^ name) (fun () -> place too_late)

let from_outside name host =
  ( name ^ ": cancelled",
    [
      test "before stop" (cancelled ~after_stop:false host);
      test "after stop" (cancelled ~after_stop:true host);
      test "before it begins" (cancelled_before host);
    ] )

let pool_task n f =
  let pool = Domainslib.Task.setup_pool ~num_domains:n () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () -> Domainslib.Task.run pool (with_backtraces f))

let () =
  Printexc.record_backtrace true;
  let places =
    places @ [ ("a pool", pool_task 1); ("a pool of none", pool_task 0) ]
  in
  run "Shutdown"
    (List.map everywhere places
    @ [
        ("its time is over before", List.map too_late_everywhere places);
        from_outside "Fifo" (Cancelling.fifo `Eager);
        from_outside "Fifo, lazy" (Cancelling.fifo `Lazy);
        from_outside "Eio" (Cancelling.eio ~protects:true);
        from_outside "by hand" Cancelling.hand;
      ])
