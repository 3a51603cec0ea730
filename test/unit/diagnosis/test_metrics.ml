(* The numbers of Metrics, as literals. The cases share the process, so each has names of its
   own. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let off () =
  let box = Mvar.create_empty ~name:"before" () in
  let take = thread (fun () -> Mvar.take box) in
  eventually "it waits" (fun () -> Mvar.waiters box = 1);
  Mvar.put box ();
  take ();
  no "is on" (Metrics.is_on ());
  int "nothing is measured" 0 (List.length (Metrics.snapshot ()).waits);
  Metrics.start ();
  yes "is on" (Metrics.is_on ())

(* --- What was measured -------------------------------------------------------------- *)

let nothing =
  {
    Metrics.operation = "";
    structure = "";
    waiting = 0;
    waits = 0;
    waited = 0.;
    wait_times = [];
  }

let wait operation structure =
  (Metrics.snapshot ()).waits
  |> List.find_opt (fun (w : Metrics.wait) ->
      w.operation = operation && w.structure = structure)
  |> Option.value ~default:nothing

let number_of_waits () =
  List.fold_left
    (fun n (w : Metrics.wait) ->
      if w.operation = "Mvar.put" then n + w.waits else n)
    0 (Metrics.snapshot ()).waits

let holds kind structure =
  (Metrics.snapshot ()).holds
  |> List.find_opt (fun (h : Metrics.hold) ->
      h.kind = kind && h.structure = structure)
  |> Option.fold ~none:(0, 0.) ~some:(fun (h : Metrics.hold) ->
      (h.holds, h.held))

let structure kind name =
  (Metrics.snapshot ()).structures
  |> List.find (fun (s : Metrics.structure) -> s.kind = kind && s.name = name)

let numbers = Alcotest.(check (list (option int)))

let is kind name expected =
  let { Metrics.length; capacity; used; limit; _ } = structure kind name in
  numbers (kind ^ " " ^ name) expected [ length; capacity; used; limit ]

let queues () =
  let mailbox = Mailbox.create ~name:"letters" () in
  List.iter (Mailbox.add mailbox) [ 'a'; 'b'; 'c' ];
  is "mailbox" "letters" [ Some 3; None; None; None ];
  let stream = Debug.named "lines" (Stream.create 5) in
  List.iter (Stream.add stream) [ 'a'; 'b' ];
  is "stream" "lines" [ Some 2; Some 5; None; None ];
  let queue = Work_queue.create ~name:"jobs" 4 in
  ignore (Work_queue.add queue 'a' : char Work_queue.ticket);
  is "work queue" "jobs" [ Some 1; Some 4; None; None ];
  ignore (Mailbox.take mailbox : char);
  is "mailbox" "letters" [ Some 2; None; None; None ];
  ignore (Sys.opaque_identity (stream, queue))

let same_name () =
  let a = Mailbox.create ~name:"twins" () in
  let b = Mailbox.create ~name:"twins" () in
  List.iter (Mailbox.add a) [ 1; 2 ];
  Mailbox.add b 3;
  is "mailbox" "twins" [ Some 3; None; None; None ];
  int "two" 2 (structure "mailbox" "twins").number;
  ignore (Sys.opaque_identity (a, b))

let collected () =
  let[@inline never] create () =
    Mailbox.add (Mailbox.create ~name:"dropped" ()) 1
  in
  create ();
  Gc.full_major ();
  let is_there (s : Metrics.structure) = s.name = "dropped" in
  no "it isn't kept alive"
    (List.exists is_there (Metrics.snapshot ()).structures)

let waits () =
  let box = Mvar.create_empty ~name:"waited" () in
  let takes = List.init 2 (fun _ -> thread (fun () -> Mvar.take box)) in
  eventually "both wait" (fun () -> (wait "Mvar.take" "waited").waiting = 2);
  int "none has ended" 0 (wait "Mvar.take" "waited").waits;
  let begun = Unix.gettimeofday () in
  while Unix.gettimeofday () -. begun < 0.01 do
    Thread.yield ()
  done;
  List.iter (fun _ -> Mvar.put box ()) takes;
  List.iter (fun join -> join ()) takes;
  let { Metrics.waiting; waits; waited; wait_times; _ } =
    wait "Mvar.take" "waited"
  in
  int "waits now" 0 waiting;
  int "have ended" 2 waits;
  yes "0.02 s together" (waited >= 0.02 && waited < 20.);
  let within limit =
    Alcotest.(check (option int))
      (Printf.sprintf "within %g s" limit)
      (Some 0)
      (List.assoc_opt limit wait_times)
  in
  List.iter within [ 1e-6; 4e-6; 0.004096 ];
  Alcotest.(check (option int))
    "in all" (Some 2)
    (List.assoc_opt infinity wait_times);
  let p50 = Option.get (Metrics.quantile 0.5 wait_times) in
  yes "0.01 s for one of two" (p50 >= 0.01 && p50 < 20.)

(* Two domains hold and wait, while another thread reads. None is lost. Each has a mutex of its
   own, so that both count at once. *)
let between_domains () =
  let box = Mvar.create_empty ~name:"passed" () in
  let n = 300 and locks = 100_000 and over = Atomic.make false in
  let read () =
    while not (Atomic.get over) do
      ignore (Metrics.to_openmetrics (Metrics.snapshot ()) : string);
      Thread.yield ()
    done
  in
  let reader = thread read and begin_ = Barrier.create 2 in
  let each f =
    let mutex = Debug.named "shared" (Mutex.create ()) in
    Barrier.await begin_;
    for _ = 1 to locks do
      Mutex.protect mutex ignore
    done;
    for _ = 1 to n do
      f ()
    done
  in
  let other = Partner.lasting_domain () in
  Partner.ask other (fun () -> each (fun () -> ignore (Mvar.take box : unit)));
  each (Mvar.put box);
  Partner.join other;
  Atomic.set over true;
  reader ();
  int "holds" (2 * locks) (fst (holds "mutex" "shared"));
  List.iter
    (fun operation ->
      let { Metrics.waiting; waits; wait_times; _ } = wait operation "passed" in
      int "nobody waits" 0 waiting;
      (* On a busy machine it may be that one of the two never waits. *)
      let each_once = List.assoc_opt infinity wait_times in
      int "each once" waits (Option.value each_once ~default:0))
    [ "Mvar.put"; "Mvar.take" ]

let quantiles () =
  let q = Alcotest.(check (option (float 0.))) in
  let times = [ (0.001, 0); (0.004, 98); (0.016, 99); (infinity, 100) ] in
  q "p50" (Some 0.004) (Metrics.quantile 0.5 times);
  q "p98" (Some 0.004) (Metrics.quantile 0.98 times);
  q "p99" (Some 0.016) (Metrics.quantile 0.99 times);
  q "the longest" (Some infinity) (Metrics.quantile 1. times);
  q "none" None (Metrics.quantile 0.5 [ (0.001, 0); (infinity, 0) ])

(* A wait that is cancelled has ended, too. A choice waits in each of its structures. *)
let ends () =
  let a = Mvar.create_empty ~name:"first" () in
  let b = Mvar.create_empty ~name:"second" () in
  let found =
    Event.sync_before 0.001 (Event.choose [ Mvar.take_evt a; Mvar.take_evt b ])
  in
  yes "nothing came" (found = None);
  List.iter
    (fun name -> int name 1 (wait "Mvar.take" name).waits)
    [ "first"; "second" ];
  Concord_fifo.run (fun () ->
      match Tasks.with_timeout 0.001 (fun () -> Mvar.take a) with
      | Some () -> Alcotest.fail "nothing came"
      | None -> ());
  int "cancelled" 2 (wait "Mvar.take" "first").waits;
  int "nobody waits" 0 (wait "Mvar.take" "first").waiting

(* --- Holders -------------------------------------------------------------------------- *)

let lasts seconds =
  let begun = Unix.gettimeofday () in
  while Unix.gettimeofday () -. begun < seconds do
    Thread.yield ()
  done

let held kind name expected f =
  let before, seconds = holds kind name in
  f ();
  let after, more = holds kind name in
  int (kind ^ " " ^ name) expected (after - before);
  yes
    (Printf.sprintf "%s %s was held" kind name)
    (more -. seconds >= 0.002 *. float expected
    && more -. seconds < 10. *. float expected)

exception Failed

let fails _ =
  lasts 0.002;
  raise Failed

let failing f = try f () with Failed -> ()

let mutexes () =
  let mutex = Debug.named "lock" (Mutex.create ()) in
  held "mutex" "lock" 3 (fun () ->
      Mutex.protect mutex (fun () -> lasts 0.002);
      failing (fun () -> Mutex.protect mutex fails);
      Mutex.lock mutex;
      lasts 0.002;
      Mutex.unlock mutex);
  let rwlock = Rwlock.create ~name:"table" () in
  held "rwlock" "table" 4 (fun () ->
      Rwlock.read rwlock (fun () -> lasts 0.002);
      Rwlock.write rwlock (fun () -> lasts 0.002);
      Rwlock.read_lock rwlock;
      lasts 0.002;
      Rwlock.read_unlock rwlock;
      Rwlock.write_lock rwlock;
      lasts 0.002;
      Rwlock.write_unlock rwlock)

(* The holder gives the mutex back while it waits for a signal. *)
let conditions () =
  let mutex = Debug.named "guard" (Mutex.create ()) in
  let condition = Condition.create () and is_set = ref false in
  let wait () =
    Mutex.protect mutex (fun () ->
        lasts 0.002;
        while not !is_set do
          Condition.wait condition mutex
        done;
        lasts 0.002)
  in
  held "mutex" "guard" 3 (fun () ->
      let join = thread wait in
      eventually "it waits" (fun () -> Condition.waiters condition = 1);
      let before = Unix.gettimeofday () in
      lasts 0.1;
      Mutex.protect mutex (fun () ->
          lasts 0.002;
          is_set := true);
      Condition.signal condition;
      join ();
      let _, seconds = holds "mutex" "guard" in
      yes "the wait isn't counted" (seconds < Unix.gettimeofday () -. before))

let boxes () =
  let box = Mvar.create ~name:"cell" 1 in
  held "mvar" "cell" 2 (fun () ->
      Mvar.modify box (fun n ->
          lasts 0.002;
          (n + 1, ()));
      failing (fun () -> Mvar.modify box fails));
  let semaphore = Debug.named "permits" (Semaphore.Counting.make 3) in
  held "semaphore" "permits" 2 (fun () ->
      Semaphore.Counting.with_permits semaphore 2 (fun () ->
          is "semaphore" "permits" [ None; None; Some 2; Some 3 ];
          lasts 0.002);
      yes "a permit is free"
        (Semaphore.Counting.try_with_permit semaphore (fun () -> lasts 0.002)
        = Some ()))

let pools () =
  let pool = Pool.create ~name:"connections" 2 (fun () -> ()) in
  held "pool" "connections" 3 (fun () ->
      Pool.use pool (fun () ->
          is "pool" "connections" [ None; None; Some 1; Some 2 ];
          lasts 0.002);
      failing (fun () -> Pool.use pool fails);
      let lease = Pool.obtain pool in
      lasts 0.002;
      Pool.give_back ~keep:true lease);
  is "pool" "connections" [ None; None; Some 0; Some 2 ];
  Pool.close pool;
  (match Pool.use pool ignore with
  | () -> Alcotest.fail "it is closed"
  | exception Pool.Closed -> ());
  int "it wasn't held" 3 (fst (holds "pool" "connections"))

(* --- Workers ------------------------------------------------------------------------------ *)

let busy kind name = Option.get (structure kind name).busy

let workers () =
  let sleeps () = (structure "workers" "cores").used = Some 0 in
  Workers.with_workers ~name:"cores" ~domains:1 @@ fun pool ->
  (* A worker counts as used from its beginning until it sleeps, so it begins first. *)
  Promise.await (Workers.submit pool ignore);
  eventually "the worker sleeps" sleeps;
  is "workers" "cores" [ Some 0; None; Some 0; Some 1 ];
  let begun = Atomic.make false and over = Atomic.make false in
  let spins =
    Workers.submit pool (fun () ->
        Atomic.set begun true;
        while not (Atomic.get over) do
          Domain.cpu_relax ()
        done)
  in
  let next = Workers.submit pool ignore in
  eventually "it runs" (fun () -> Atomic.get begun);
  is "workers" "cores" [ Some 1; None; Some 1; Some 1 ];
  let before = busy "workers" "cores" in
  lasts 0.01;
  let during = busy "workers" "cores" in
  yes "it is busy" (during -. before >= 0.01 && during < 10.);
  Atomic.set over true;
  Promise.await spins;
  Promise.await next;
  eventually "it sleeps" sleeps;
  yes "no time is lost" (busy "workers" "cores" >= during);
  is "workers" "cores" [ Some 0; None; Some 0; Some 1 ]

let blocking () =
  let pool = Blocking.create ~name:"disk" ~threads:1 () in
  let go = Mvar.create_empty () and begun = Promise.create () in
  let call () =
    Promise.fill begun ();
    Mvar.take go
  in
  let first = Blocking.submit ~pool call in
  let second = Blocking.submit ~pool (fun () -> lasts 0.01) in
  Promise.await begun;
  is "blocking calls" "disk" [ Some 1; None; Some 1; Some 1 ];
  Mvar.put go ();
  Promise.await first;
  Promise.await second;
  eventually "they have ended" (fun () ->
      (structure "blocking calls" "disk").used = Some 0);
  yes "busy" (busy "blocking calls" "disk" >= 0.01);
  is "blocking calls" "disk" [ Some 0; None; Some 0; Some 1 ]

let without_name () =
  let box = Mvar.create_empty () and mailbox = Mailbox.create () in
  Mailbox.add mailbox ();
  let before = (wait "Mvar.take" "").waits in
  let take = thread (fun () -> Mvar.take box) in
  eventually "it waits" (fun () -> (wait "Mvar.take" "").waiting = 1);
  Mvar.put box ();
  take ();
  int "counted" (before + 1) (wait "Mvar.take" "").waits;
  let is_mailbox (s : Metrics.structure) = s.kind = "mailbox" && s.name = "" in
  no "not listed" (List.exists is_mailbox (Metrics.snapshot ()).structures);
  ignore (Sys.opaque_identity mailbox)

(* --- The text ------------------------------------------------------------------------------- *)

let example =
  {
    Metrics.waits =
      [
        {
          operation = "Mailbox.take";
          structure = "a\"b\\c\nd\xff";
          waiting = 2;
          waits = 7;
          waited = 0.25;
          wait_times = [ (1e-6, 0); (0.262144, 6); (infinity, 7) ];
        };
      ];
    holds =
      [
        {
          kind = "mutex";
          structure = "lock";
          holds = 3;
          held = 1.5;
          hold_times = [ (1.048576, 3); (infinity, 3) ];
        };
      ];
    structures =
      [
        {
          kind = "mailbox";
          name = "jobs";
          number = 1;
          length = Some 3;
          capacity = None;
          used = None;
          limit = None;
          busy = None;
        };
        {
          kind = "workers";
          name = "";
          number = 2;
          length = Some 0;
          capacity = None;
          used = Some 1;
          limit = Some 4;
          busy = Some 12.5;
        };
        {
          kind = "work queue";
          name = "in";
          number = 1;
          length = Some 9;
          capacity = Some 10;
          used = None;
          limit = None;
          busy = None;
        };
      ];
  }

let example_text =
  {|# TYPE concord_waiting_tasks gauge
# HELP concord_waiting_tasks Tasks that wait in this operation now.
concord_waiting_tasks{operation="Mailbox.take",structure="a\"b\\c\nd�"} 2
# TYPE concord_wait_seconds histogram
# UNIT concord_wait_seconds seconds
# HELP concord_wait_seconds Waits that have ended, and how long they took.
concord_wait_seconds_bucket{operation="Mailbox.take",structure="a\"b\\c\nd�",le="1e-06"} 0
concord_wait_seconds_bucket{operation="Mailbox.take",structure="a\"b\\c\nd�",le="0.262144"} 6
concord_wait_seconds_bucket{operation="Mailbox.take",structure="a\"b\\c\nd�",le="+Inf"} 7
concord_wait_seconds_count{operation="Mailbox.take",structure="a\"b\\c\nd�"} 7
concord_wait_seconds_sum{operation="Mailbox.take",structure="a\"b\\c\nd�"} 0.250000000
# TYPE concord_hold_seconds histogram
# UNIT concord_hold_seconds seconds
# HELP concord_hold_seconds How long tasks held this until they gave it back.
concord_hold_seconds_bucket{kind="mutex",structure="lock",le="1.048576"} 3
concord_hold_seconds_bucket{kind="mutex",structure="lock",le="+Inf"} 3
concord_hold_seconds_count{kind="mutex",structure="lock"} 3
concord_hold_seconds_sum{kind="mutex",structure="lock"} 1.500000000
# TYPE concord_length gauge
# HELP concord_length Items, or jobs that wait for a worker.
concord_length{kind="mailbox",structure="jobs"} 3
concord_length{kind="workers",structure=""} 0
concord_length{kind="work queue",structure="in"} 9
# TYPE concord_length_limit gauge
# HELP concord_length_limit The limit of concord_length.
concord_length_limit{kind="work queue",structure="in"} 10
# TYPE concord_in_use gauge
# HELP concord_in_use Permits, resources, workers or threads in use.
concord_in_use{kind="workers",structure=""} 1
# TYPE concord_in_use_limit gauge
# HELP concord_in_use_limit The limit of concord_in_use.
concord_in_use_limit{kind="workers",structure=""} 4
# TYPE concord_busy_seconds counter
# UNIT concord_busy_seconds seconds
# HELP concord_busy_seconds How long workers or threads have worked.
concord_busy_seconds_total{kind="workers",structure=""} 12.500000000
# TYPE concord_structures gauge
# HELP concord_structures Structures of this name.
concord_structures{kind="mailbox",structure="jobs"} 1
concord_structures{kind="workers",structure=""} 2
concord_structures{kind="work queue",structure="in"} 1
# EOF
|}

let text () =
  Alcotest.(check string) "text" example_text (Metrics.to_openmetrics example);
  Alcotest.(check string)
    "nothing" "# EOF\n"
    (Metrics.to_openmetrics { waits = []; holds = []; structures = [] })

(* Prometheus' parser reads the example, and everything that this program has measured. *)
let parsed () =
  let { Openmetrics_parser.families; samples } =
    Openmetrics_parser.parse (Metrics.to_openmetrics example)
  in
  Alcotest.(check (list string))
    "families"
    [
      "concord_waiting_tasks gauge ";
      "concord_wait_seconds histogram seconds";
      "concord_hold_seconds histogram seconds";
      "concord_length gauge ";
      "concord_length_limit gauge ";
      "concord_in_use gauge ";
      "concord_in_use_limit gauge ";
      "concord_busy_seconds counter seconds";
      "concord_structures gauge ";
    ]
    families;
  int "samples" 20 (List.length samples);
  let value name labels = List.assoc_opt (name, labels) samples in
  let check name labels expected =
    Alcotest.(check (option (float 0.)))
      name (Some expected) (value name labels)
  in
  check "concord_waiting_tasks"
    [ ("operation", "Mailbox.take"); ("structure", "a\"b\\c\nd\xef\xbf\xbd") ]
    2.;
  check "concord_busy_seconds_total"
    [ ("kind", "workers"); ("structure", "") ]
    12.5;
  let mailbox = Mailbox.create ~name:"in the \"text\"" () in
  List.iter (Mailbox.add mailbox) [ 'a'; 'b'; 'c' ];
  let { Openmetrics_parser.samples; _ } =
    Openmetrics_parser.parse (Metrics.to_openmetrics (Metrics.snapshot ()))
  in
  Alcotest.(check (option (float 0.)))
    "three letters" (Some 3.)
    (List.assoc_opt
       ( "concord_length",
         [ ("kind", "mailbox"); ("structure", "in the \"text\"") ] )
       samples);
  ignore (Sys.opaque_identity mailbox)

(* --- Hostile names ------------------------------------------------------------------------------ *)

(* Prometheus refuses a series that comes twice, and names may become equal when they are written. *)
let hostile_names () =
  let first = String.make 10_000_000 'x' in
  let names =
    [
      "\xfe";
      "\xff";
      first;
      first ^ "y";
      "a\nb";
      "\\";
      "\\n";
      "\"";
      "}";
      "{a=\"b\"} 1\n# EOF\n";
      "\r\n";
      "\000";
      "\t";
      "\127";
      "\u{2028}";
      "\u{85}";
      String.make 199 'z' ^ "\u{e9}";
      " ";
      "# TYPE";
    ]
  in
  let boxes = List.map (fun name -> Mvar.create ~name 1) names in
  let mailboxes = List.map (fun name -> Mailbox.create ~name ()) names in
  List.iter (fun box -> Mvar.modify box (fun n -> (n, ()))) boxes;
  let before = number_of_waits () in
  List.iter
    (fun box ->
      ignore (Event.sync_before 0.0001 (Mvar.put_evt box 2) : unit option))
    boxes;
  int "each is counted" (List.length names) (number_of_waits () - before);
  let text = Metrics.to_openmetrics (Metrics.snapshot ()) in
  yes "UTF-8" (String.is_valid_utf_8 text);
  yes "no long line"
    (List.for_all
       (fun line -> String.length line < 1_000)
       (String.split_on_char '\n' text));
  List.iter
    (fun (name, expected) -> int name expected (fst (holds "mvar" name)))
    [
      ("\u{fffd}", 2);
      (String.make 200 'x', 2);
      (String.make 199 'z', 1);
      ("a\nb", 1);
    ];
  int "mailboxes" 2 (structure "mailbox" "\u{fffd}").number;
  if Openmetrics_parser.is_here then begin
    let { Openmetrics_parser.samples; _ } = Openmetrics_parser.parse text in
    List.iter
      (fun name ->
        let labels = [ ("kind", "mailbox"); ("structure", name) ] in
        yes (String.escaped name)
          (List.mem_assoc ("concord_length", labels) samples))
      (List.filter
         (fun name -> String.length name < 100 && name.[0] < '\xfe')
         names);
    int "none twice" (List.length samples)
      (List.length (List.sort_uniq compare (List.map fst samples)))
  end;
  ignore (Sys.opaque_identity (boxes, mailboxes))

(* --- The bound --------------------------------------------------------------------------------- *)

let sum_of_holds () =
  List.fold_left
    (fun n (h : Metrics.hold) -> if h.kind = "mvar" then n + h.holds else n)
    0 (Metrics.snapshot ()).holds

let bound () =
  let before = sum_of_holds () in
  for i = 1 to 1_200 do
    let box = Mvar.create ~name:(Printf.sprintf "request %d" i) () in
    Mvar.modify box (fun () -> ((), ()))
  done;
  let said =
    printed (fun () -> ignore (Metrics.snapshot () : Metrics.snapshot))
  in
  yes said
    (contains said
       "concord: more than 1000 series are measured, so the rest is counted \
        under the name \"(others)\". Give the same name to structures");
  let { Metrics.holds = all; _ } = Metrics.snapshot () in
  yes "at most 1,000 and one for each kind" (List.length all <= 1_006);
  int "none is lost" 1_200 (sum_of_holds () - before);
  yes "the others" (fst (holds "mvar" "(others)") > 200);
  Alcotest.(check string)
    "said once" ""
    (printed (fun () -> ignore (Metrics.snapshot () : Metrics.snapshot)))

let many () =
  let n = 100_000 in
  let all =
    List.init n (fun i ->
        let mailbox = Mailbox.create ~name:(Printf.sprintf "queue %d" i) () in
        Mailbox.add mailbox i;
        mailbox)
  in
  let begun = Sys.time () in
  let now = Metrics.snapshot () in
  let seconds = Sys.time () -. begun in
  yes
    (Printf.sprintf "%g s" seconds)
    (seconds < if instrumented then 20. else 2.);
  let mailboxes =
    List.filter
      (fun (s : Metrics.structure) -> s.kind = "mailbox")
      now.structures
  in
  yes "at most 1,000 and the others" (List.length mailboxes <= 1_001);
  let sum f = List.fold_left (fun n s -> n + f s) 0 mailboxes in
  yes "none is lost" (sum (fun s -> s.number) >= n);
  yes "nor its items" (sum (fun s -> Option.get s.length) >= n);
  let text = Metrics.to_openmetrics now in
  yes "a short text" (String.length text < 5_000_000);
  ignore (Sys.opaque_identity all)

let () =
  run "metrics"
    [
      ( "measured",
        [
          test "off" off;
          test "queues" queues;
          test "one name for two" same_name;
          test "collected" collected;
          test "waits" waits;
          test "waits that end otherwise" ends;
          test "between domains" between_domains;
          test "quantiles" quantiles;
          test "mutexes and rwlocks" mutexes;
          test "conditions" conditions;
          test "boxes and semaphores" boxes;
          test "pools" pools;
          test "workers" workers;
          test "blocking calls" blocking;
          test "without a name" without_name;
        ] );
      ( "text",
        test "example" text
        ::
        (if Openmetrics_parser.is_here then [ test "Prometheus' parser" parsed ]
         else []) );
      ("names", [ test "hostile" hostile_names ]);
      ("bound", [ test "1,200 names" bound; test "100,000 structures" many ]);
    ]
