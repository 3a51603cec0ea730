(* The special properties of Miou. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

(* --- Runs ---------------------------------------------------------------------- *)

let invalid what part f =
  match f () with
  | () -> Alcotest.failf "%s: it is not refused" what
  | exception Invalid_argument text -> yes what (contains text part)

let refused () =
  invalid "a domain" "main domain" (fun () ->
      in_domain (fun () -> In_miou.run ignore));
  In_miou.run (fun () ->
      invalid "a run in a run" "already" (fun () -> In_miou.run ignore);
      Tasks.sleep 0.001);
  (* While debugging, the library first asks who waits, by an effect that Miou doesn't know. *)
  if not Check.debugged then
    invalid "a plain run" "Concord_miou.run" (fun () ->
        Miou.run (fun () -> Mvar.take (Mvar.create_empty ())))

exception Boom

let results () =
  int "a value" 3 (In_miou.run (fun () -> 3));
  raises "an exception" Boom (fun () ->
      In_miou.run (fun () ->
          let task = Miou.async (fun () -> Event.sync Event.never) in
          In_miou.settle ();
          ignore (task : unit Miou.t);
          raise Boom));
  (match
     In_miou.run (fun () ->
         ignore (Miou.async (fun () -> Event.sync Event.never) : unit Miou.t);
         In_miou.settle ())
   with
  | () -> Alcotest.fail "a child is left"
  | exception e ->
      yes "Miou says so" (contains (Printexc.to_string e) "Still_has_children"));
  In_miou.run Tasks.yield

(* Resuming a task after the end of its run does no harm. *)
let too_late () =
  let late = ref [] in
  for i = 1 to 50 do
    (try
       In_miou.run_on (i mod 2) (fun () ->
           let wait () =
             Suspend.suspend (fun resumer ->
                 late := resumer :: !late;
                 None)
           in
           let task = Miou.async wait in
           In_miou.settle ();
           ignore (task : unit Miou.t);
           raise Boom)
     with Boom -> ());
    In_miou.run (fun () ->
        List.iter (fun r -> ignore (r (Ok ()) : bool)) !late;
        Tasks.sleep 0.0001)
  done

let descriptors () =
  In_miou.run_on 1 Tasks.yield;
  let before = Concord_test_proc.descriptors () in
  for _ = 1 to 20 do
    In_miou.run_on 1 Tasks.yield
  done;
  int "descriptors" before (Concord_test_proc.descriptors ())

(* --- Other hosts around and inside ------------------------------------------------ *)

let waits = Concord_test_hosts.Short_waits.waits

let pool f =
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () -> Domainslib.Task.run pool f)

let places =
  [
    ("Fifo", fun f -> Concord_fifo.run f);
    ("Eio", fun f -> Eio_main.run (fun _ -> f ()));
    ("a pool", pool);
    ("a thread", in_thread);
    ("a domain", in_domain);
  ]

let inside miou (name, place) =
  test
    (name ^ " in " ^ fst miou)
    (fun () ->
      snd miou (fun () ->
          waits ();
          place waits;
          place (fun () -> Concord_fifo.run waits);
          waits ()))

let around (name, place) =
  test ("Miou in " ^ name) (fun () ->
      place (fun () ->
          waits ();
          In_miou.run waits;
          In_miou.call waits;
          waits ()))

(* Only places in the main domain, because Miou runs nowhere else. *)
let around_it =
  let is_in_main (name, _) = List.mem name [ "Fifo"; "Eio"; "a thread" ] in
  List.map around (List.filter is_in_main places)

(* The program of doc/miou.mld. *)
let shown () =
  int "sum" 42 @@ Concord_miou.run
  @@ fun () ->
  let requests = Mailbox.create () and answers = Mvar.create_empty () in
  let double () = Mvar.put answers (2 * Mailbox.take requests) in
  let here = Miou.async double in
  let there = Miou.call double in
  let eio () =
    Eio_main.run (fun _ ->
        Mailbox.add requests 1;
        Mailbox.add requests 20;
        Mvar.take answers + Mvar.take answers)
  in
  let sum = Promise.await (Promise.in_thread eio) in
  Miou.await_exn here;
  Miou.await_exn there;
  sum

(* The tasks of the inner host meet those of Miou. *)
let meet_inside () =
  In_miou.run_on 1 @@ fun () ->
  let box = Mvar.create_empty () and n = 100 in
  let put () =
    for i = 1 to n do
      Mvar.put box i
    done
  and take () =
    for i = 1 to n do
      int "in turn" i (Mvar.take box)
    done
  in
  In_miou.all [ put; (fun () -> Concord_fifo.run take) ];
  In_miou.all [ (fun () -> Concord_fifo.run put); take ];
  let called = Miou.call (fun () -> Concord_fifo.run put) in
  Concord_fifo.run take;
  Miou.await_exn called

let users_of_domain_local_await () =
  In_miou.run @@ fun () ->
  let t = Domain_local_await.prepare_for_await () in
  In_miou.all [ t.await; t.release ]

(* --- Names --------------------------------------------------------------------------- *)

let host () = (Concord__diagnosis.Identify.task ()).host
let waker () = (Concord__diagnosis.Identify.waker ()).host
let is what expected actual = Alcotest.(check string) what expected actual

let names () =
  let elsewhere () =
    is "thread" "" (host ());
    is "thread, waking" "" (waker ());
    Concord_fifo.run (fun () ->
        is "fifo" "fifo" (host ());
        is "fifo, waking" "fifo" (waker ()));
    Eio_main.run (fun _ ->
        is "eio" "eio" (host ());
        is "eio, waking" "eio" (waker ()))
  in
  elsewhere ();
  let inside () =
    is "miou" "miou" (host ());
    is "miou, waking" "miou" (waker ());
    Concord_fifo.run (fun () ->
        is "inside" "a scheduler" (host ());
        is "inside, waking" "a scheduler" (waker ()));
    Eio_main.run (fun _ -> is "eio inside" "eio" (host ()));
    in_thread (fun () -> is "beside" "" (host ()))
  in
  In_miou.run inside;
  In_miou.call inside;
  elsewhere ()

(* --- Computations --------------------------------------------------------------------- *)

let computations () =
  In_miou.run_on 1 @@ fun () ->
  let c = Miou.Computation.create () in
  let p = Concord_miou.of_computation c in
  let q = Concord_miou.of_computation c in
  let waiting =
    domain (fun () -> Concord_fifo.run (fun () -> Promise.await p))
  in
  yes "not yet" (Event.sync_before 0.001 (Promise.await_evt q) = None);
  let completer =
    Miou.call (fun () ->
        if not (Miou.Computation.try_return c 7) then
          Alcotest.fail "not returned")
  in
  int "there" 7 (waiting ());
  int "here" 7 (Promise.await q);
  Miou.await_exn completer;
  int "afterwards" 7 (Promise.await (Concord_miou.of_computation c));
  let c : int Miou.Computation.t = Miou.Computation.create () in
  let p = Concord_miou.of_computation c in
  let cancel = (Boom, Printexc.get_callstack 0) in
  yes "cancelled" (Miou.Computation.try_cancel c cancel);
  raises "fails" Boom (fun () -> Promise.await p);
  raises "fails afterwards" Boom (fun () ->
      Promise.await (Concord_miou.of_computation c))

let run () =
  run "concord-miou"
    (Waiting.suites @ Interrupted.suites @ Cancelled.suites @ Protected.suites
    @ [
        ( "runs",
          [
            test "refused" refused;
            test "results" results;
            test "resumed when it is over" too_late;
            test "no descriptors are lost" descriptors;
          ] );
        ( "other hosts",
          List.map (inside ("Miou", In_miou.run)) places
          @ List.map (inside ("Miou.call", In_miou.call)) places
          @ around_it
          @ [
              test "the program of the page" shown;
              test "tasks inside meet those outside" meet_inside;
              test "users of Domain_local_await" users_of_domain_local_await;
              test "names" names;
            ] );
        ("computations", [ test "as promises" computations ]);
      ])
