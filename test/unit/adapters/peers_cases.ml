(* Faults of other libraries' structures in Eio fibers, which ours must not have. The cases
   run with concord-eio and without it. *)

open Concord
open Concord_test_support
open Check

exception Boom

let in_eio f = Eio_main.run (fun _ -> f ())
let main f () = in_eio f

(* --- Operations that serve one waiter at a time -------------------------------- *)

type place = {
  name : string;
  wait : unit -> unit;
  wake : unit -> unit;
  waiters : unit -> int;
}

(* Checks that each operation that takes gets the value that was given to it in its turn. *)
let place name (operation : int Operations.t) way =
  let place = operation.make 2 in
  let given = Queue.create () in
  let check v =
    if operation.service = Takes then int name (Queue.pop given) v
  in
  {
    name;
    wait = (fun () -> check (way place 7));
    wake = (fun () -> Queue.push (place.wake ()) given);
    waiters = place.waiters;
  }

(* Each operation comes directly and in a choice of its event. *)
let places () =
  let ways operation =
    let { Operations.name; service; make; _ } = operation in
    let select { Operations.event; _ } v =
      Event.select [ (Option.get event) v; Event.never ]
    and choice = name ^ ", a choice" in
    match service with
    | (Takes | Gives) when Option.is_some (make 1).event ->
        [
          place name operation (fun place -> place.wait);
          place choice operation select;
        ]
    | _ -> []
  in
  List.concat_map ways Operations.all

(* --- In fibers --------------------------------------------------------------- *)

(* Eio's mutex cannot be shared like this (eio#512). A mutex that tasks of Domainslib share
   too is in [Test_peers]. *)
let shared_with_threads () =
  let mutex = Mutex.create () and count = ref 0 in
  let work () =
    for _ = 1 to 1_000 do
      Mutex.protect mutex (fun () -> incr count)
    done
  in
  let domain = Domain.spawn work and thread = Thread.create work () in
  Eio.Fiber.both work work;
  Domain.join domain;
  Thread.join thread;
  int "count" 4_000 !count

(* --- Choice and cancellation -------------------------------------------------- *)

(* Fills both in the same turn. *)
let fill_both add one other =
  add one 1;
  add other 2

(* Eio takes from both streams, so one item is lost (eio#356, eio#577). *)
let losing_take () =
  let module S = Eio.Stream in
  let one = S.create 5 and other = S.create 5 in
  let choose () =
    Eio.Fiber.first (fun () -> S.take one) (fun () -> S.take other)
  in
  let eio = ref 0 in
  Eio.Fiber.both
    (fun () -> eio := choose ())
    (fun () -> fill_both S.add one other);
  yes "Eio: one was taken" (!eio > 0);
  int "Eio: and the other is lost" 0 (S.length one + S.length other);
  let one = Stream.create 5 and other = Stream.create 5 in
  let ours = ref 0 in
  Eio.Fiber.both
    (fun () ->
      ours := Event.select [ Stream.take_evt one; Stream.take_evt other ])
    (fun () -> fill_both Stream.add one other);
  yes "ours: one was taken" (!ours > 0);
  int "ours: the other stays" 1 (Stream.length one + Stream.length other);
  int "ours: they are two" 3
    (!ours + List.hd (Stream.drain one @ Stream.drain other))

(* A value that comes late for a cancelled wait must not resume the fiber's next wait
   (eio#396). *)
let late_value () =
  let before = Stream.create 1 and now = Stream.create 1 in
  let got = ref 0 in
  Eio.Fiber.both
    (fun () ->
      let waits () = Stream.waiters before = 1 in
      Eio.Fiber.first
        (fun () -> ignore (Stream.take before : int))
        (fun () -> eventually ~pause:Eio.Fiber.yield "it waits" waits);
      got := Stream.take now)
    (fun () ->
      eventually ~pause:Eio.Fiber.yield "it waits again" (fun () ->
          Stream.waiters now = 1);
      Stream.add before 1;
      for _ = 1 to 3 do
        Eio.Fiber.yield ()
      done;
      int "not resumed" 1 (Stream.waiters now);
      Stream.add now 2);
  int "the right one" 2 !got;
  int "the late value stays" 1 (Stream.take before)

(* An exception poisons Eio's mutex for all later users (onton#185). *)
let not_poisoned () =
  let theirs = Eio.Mutex.create () in
  raises "Eio" Boom (fun () ->
      Eio.Mutex.use_rw ~protect:false theirs (fun () -> raise Boom));
  (match Eio.Mutex.lock theirs with
  | () -> Alcotest.fail "Eio: not poisoned"
  | exception Eio.Mutex.Poisoned _ -> ());
  let ours = Mutex.create () in
  raises "ours" Boom (fun () -> Mutex.protect ours (fun () -> raise Boom));
  int "ours still works" 1 (Mutex.protect ours (fun () -> 1))

(* In a domain without Eio, Eio's stream raises when it is full, and its internal lock stays
   taken (eio#488). *)
let full_stream_elsewhere () =
  let stream = Stream.create 1 in
  let fill () =
    for i = 1 to 10 do
      Stream.add stream i
    done;
    Stream.close stream
  in
  let domain = Domain.spawn fill in
  let rec sum total =
    match Stream.take stream with
    | v -> sum (total + v)
    | exception Stream.Closed -> total
  in
  int "sum, and the end (eio#641)" 55 (sum 0);
  Domain.join domain

(* --- Signal handlers ----------------------------------------------------------- *)

(* Every operation that wakes a waiter must also work where no task can be suspended. *)
let wake_all = List.iter (fun { wake; _ } -> wake ())

let in_signal_handler f =
  let handled = Atomic.make false in
  let handle _ =
    f ();
    Atomic.set handled true
  in
  let before = Sys.signal Sys.sigusr1 (Signal_handle handle) in
  Fun.protect ~finally:(fun () -> Sys.set_signal Sys.sigusr1 before)
  @@ fun () ->
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  eventually "the signal is handled" (fun () -> Atomic.get handled)

let in_finaliser f =
  let handled = Atomic.make false in
  let leave_one () =
    Gc.finalise
      (fun _ ->
        f ();
        Atomic.set handled true)
      (Sys.opaque_identity (ref 0))
  in
  leave_one ();
  eventually "it is finalised" (fun () ->
      Gc.full_major ();
      Atomic.get handled)

(* Fibers are woken from a signal handler and from a finaliser (eio#790). *)
let woken_from where () =
  let places = places () in
  let wait { name; wait; _ } () =
    match wait () with
    | () -> ()
    | exception e -> Alcotest.failf "%s: %s" name (Printexc.to_string e)
  in
  Eio.Fiber.all
    (List.map wait places
    @ [
        (fun () ->
          List.iter (fun p -> int p.name 1 (p.waiters ())) places;
          where (fun () -> wake_all places);
          List.iter (fun p -> int p.name 0 (p.waiters ())) places);
      ])

let suites =
  [
    ( "in Eio fibers",
      [
        test "a mutex is shared with threads and domains"
          (main shared_with_threads);
        test "a full stream in a domain without Eio"
          (main full_stream_elsewhere);
      ] );
    ( "instead of Eio's",
      [
        test "a choice that takes one item does not lose the other"
          (main losing_take);
        test "a late value does not resume another wait" (main late_value);
        test "an exception does not poison a mutex" (main not_poisoned);
      ] );
    ( "where nothing can be suspended",
      [
        test "a signal handler wakes fibers"
          (main (woken_from in_signal_handler));
        test "a finaliser wakes fibers" (main (woken_from in_finaliser));
      ] );
  ]
