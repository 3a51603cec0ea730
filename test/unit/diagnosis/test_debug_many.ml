(* Reports of many tasks are made in time and stay readable. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let () = Debug.keep_waits ()

(* The limit is far more than is needed, and far less than a search through all waits for
   each one would take. *)
let in_time what f =
  let begun = Unix.gettimeofday () in
  let v = f () in
  let took = Unix.gettimeofday () -. begun in
  yes (Printf.sprintf "%s: %.1f s" what took) (took < 15.);
  v

let fork f = ignore (Concord_fifo.fork f : Concord_fifo.handle)

let until_wait n =
  eventually ~pause:Suspend.yield "all wait" (fun () ->
      List.compare_length_with (Concord__diagnosis.Waits.all ()) n = 0)

let report_of n =
  let report = in_time "report" Debug.report in
  int "waits" n (List.length report.waits);
  let text = in_time "to_string" (fun () -> Debug.to_string report) in
  yes ("it can be read:\n" ^ text) (String.length text < 20_000);
  ignore (in_time "to_json" (fun () -> Debug.to_json report) : string);
  (report, text)

(* With flambda, [Array.init] would have no frame of its function. *)
let[@inline never] empty _ = Mvar.create_empty ()

let each_in_its_own () =
  Concord_fifo.run (fun () ->
      let mvars = Array.init 10_000 empty in
      Array.iteri
        (fun i mvar ->
          if i < 1_000 then Debug.name mvar (Printf.sprintf "mvar %d" i);
          fork (fun () -> Mvar.take mvar))
        mvars;
      Suspend.yield ();
      let _, text = report_of 10_000 in
      (* [Array.init] calls its function for the first element in a line of its own, so that
         one was created elsewhere. *)
      yes text
        (contains text "\n10,000 tasks of fifo have waited for"
        && contains text "in Mvar.take of \"mvar 0\", and others\n");
      Array.iter (fun mvar -> Mvar.put mvar ()) mvars)

let chain () =
  Concord_fifo.run (fun () ->
      let mvar = Mvar.create_empty () in
      let rec wait n =
        if n = 0 then Mvar.take mvar
        else Promise.await (Concord_fifo.fork_promise (fun () -> wait (n - 1)))
      in
      fork (fun () -> wait 5_000);
      until_wait 5_001;
      let report, text = report_of 5_001 in
      int "no cycle" 0 (List.length report.cycles);
      yes text
        (contains text
           "    (that is for the first task, and the others wait for other \
            holders)\n");
      Mvar.put mvar ())

(* The last task of a chain waits for a mutex that the first one holds. *)
let cycle () =
  Concord_fifo.run (fun () ->
      let mutex = Mutex.create () in
      let rec wait n =
        if n = 0 then Mutex.lock mutex
        else Promise.await (Concord_fifo.fork_promise (fun () -> wait (n - 1)))
      in
      fork (fun () ->
          Mutex.lock mutex;
          wait 5_000);
      until_wait 5_001;
      let report = in_time "report" Debug.report in
      int "one cycle" 1 (List.length report.cycles);
      int "of all" 5_001 (List.length (List.hd report.cycles));
      Mutex.unlock mutex)

let many_holders () =
  Concord_fifo.run (fun () ->
      let mvar = Mvar.create_empty () and rwlock = Rwlock.create () in
      for _ = 1 to 3_000 do
        fork (fun () -> Rwlock.read rwlock (fun () -> Mvar.take mvar))
      done;
      fork (fun () -> Rwlock.write rwlock ignore);
      Suspend.yield ();
      let report, text = report_of 3_001 in
      yes text (contains text "    (and by 2,990 other tasks)\n");
      let holders (wait : Debug.wait) =
        List.concat_map (fun p -> p.Debug.holders) wait.targets
      in
      int "all are in the value" 3_000
        (List.fold_left
           (fun n wait -> Int.max n (List.length (holders wait)))
           0 report.waits);
      for _ = 1 to 3_000 do
        Mvar.put mvar ()
      done)

(* One of many subscribers lags, and a hundred senders wait for it. Then all the others end at
   once, while another domain makes reports. The labels of their subscriptions go, although the
   broadcast stays. *)
let subscribers () =
  let labels () = List.length (Concord__diagnosis.Labels.all ()) in
  let n = 10_000 and senders = 100 and is_over = Atomic.make false in
  let observer = Partner.lasting_domain () in
  let observe () =
    while not (Atomic.get is_over) do
      ignore (Debug.report () : Debug.report)
    done
  in
  Concord_fifo.run (fun () ->
      let news = Broadcast.create ~name:"news" ~limit:(Wait 2) () in
      let lagging = Promise.create () and go_on = Mvar.create_empty () in
      fork (fun () ->
          Promise.fill lagging (Broadcast.subscribe news);
          Mvar.take go_on);
      let lagging = Promise.await lagging in
      let before = labels () in
      let others = List.init n (fun _ -> Broadcast.subscribe news) in
      yes "each has a label" (labels () >= before + n);
      List.iter (Broadcast.send news) [ 1; 2 ];
      List.iter
        (fun s ->
          strings "read" [ "1"; "2" ]
            (List.map string_of_int (Broadcast.drain s)))
        others;
      for i = 1 to senders do
        fork (fun () -> Broadcast.send news i)
      done;
      until_wait (senders + 1);
      let report, text = report_of (senders + 1) in
      let is_sender (wait : Debug.wait) =
        (List.hd wait.targets).operation = "Broadcast.send"
      in
      let of_senders = List.filter is_sender report.waits in
      int "senders" senders (List.length of_senders);
      List.iter
        (fun (wait : Debug.wait) ->
          int "only the one that lags" 1
            (List.length (List.hd wait.targets).holders))
        of_senders;
      yes text (contains text "held by fifo, task ");
      Partner.ask observer observe;
      in_time "their end" (fun () -> List.iter Broadcast.unsubscribe others);
      Broadcast.unsubscribe lagging;
      until_wait 1;
      Mvar.put go_on ();
      Atomic.set is_over true;
      Partner.join observer;
      (* The subscriptions had labels, too, which go with them. *)
      Gc.full_major ();
      let left = labels () - before in
      yes (Printf.sprintf "%d labels are left" left) (left < n / 10))

(* Tasks end in masses while another domain makes reports. *)
let ends () =
  let n = 10_000 and is_over = Atomic.make false and reports = Atomic.make 0 in
  let observer = Partner.lasting_domain () in
  Concord_fifo.run (fun () ->
      let mvars = Array.init n empty in
      let tasks =
        Array.map
          (fun mvar -> Concord_fifo.fork (fun () -> Mvar.take mvar))
          mvars
      in
      until_wait n;
      Partner.ask observer (fun () ->
          while not (Atomic.get is_over) do
            ignore (Debug.to_string (Debug.report ()) : string);
            Atomic.incr reports
          done);
      eventually "a report" (fun () -> Atomic.get reports > 0);
      in_time "their end" (fun () ->
          Array.iteri
            (fun i task ->
              if i mod 2 = 0 then Concord_fifo.cancel task
              else Mvar.put mvars.(i) ())
            tasks;
          until_wait 0);
      Atomic.set is_over true;
      Partner.join observer;
      ignore (report_of 0 : Debug.report * string))

(* The cost of a wait doesn't depend on the number of structures. *)
let condition_waits () =
  let mvars = Array.init 20_000 (fun _ -> Mvar.create_empty ()) in
  Concord_fifo.run (fun () ->
      let condition = Condition.create () and mutex = Mutex.create () in
      in_time "10,000 waits" @@ fun () ->
      for _ = 1 to 10_000 do
        fork (fun () ->
            Mutex.lock mutex;
            Condition.wait condition mutex;
            Mutex.unlock mutex);
        Condition.signal condition;
        Suspend.yield ()
      done);
  ignore (Sys.opaque_identity mvars : unit Mvar.t array)

(* This is a function of its own because, in bytecode, a variable keeps its value alive
   until its function ends. *)
let[@inline never] make_mutexes () =
  let mutexes = Array.init 50_000 (fun _ -> Mutex.create ()) in
  ignore (Debug.report () : Debug.report);
  ignore (Sys.opaque_identity mutexes : Mutex.t array)

(* A report drops its records of structures that were collected. *)
let gone () =
  let live () =
    Gc.full_major ();
    ignore (Debug.report () : Debug.report);
    Gc.full_major ();
    (Gc.stat ()).live_words
  in
  let before = live () in
  make_mutexes ();
  let grown = live () - before in
  yes (Printf.sprintf "%d words" grown) (grown < 100_000)

(* Each traced wait looks up a name. A search through all structures would take hundreds of
   times as long. *)
let named_among_others () =
  let named = Mvar.create_empty ~name:"named" () in
  let name_of mvar =
    Concord__diagnosis.Labels.name (Concord__core__Identity.pointer mvar)
  in
  let seconds_to_ask () =
    let begun = Unix.gettimeofday () in
    for _ = 1 to 1_000 do
      ignore (Sys.opaque_identity (name_of named) : string option)
    done;
    Unix.gettimeofday () -. begun
  in
  let alone = seconds_to_ask () in
  let others = Array.init 20_000 (fun _ -> Mvar.create_empty ()) in
  let beside = seconds_to_ask () in
  yes
    (Printf.sprintf "%g s, and then %g s" alone beside)
    (beside < 0.1 +. (20. *. alone));
  Alcotest.(check (option string)) "its name" (Some "named") (name_of named);
  Alcotest.(check (option string)) "no name" None (name_of others.(0))

let () =
  run "Debug, of many"
    [
      ( "tasks",
        [
          test "each in its own structure" each_in_its_own;
          test "each in the next one" chain;
          test "in a cycle" cycle;
          test "that hold one structure" many_holders;
          test "that subscribe" subscribers;
          test "that end at once" ends;
        ] );
      ( "structures",
        [
          test "beside a condition" condition_waits;
          test "that were collected" gone;
          test "one with a name" named_among_others;
        ] );
    ]
