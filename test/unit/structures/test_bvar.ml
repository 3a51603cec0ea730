open Concord
open Concord.Tools
open Concord_test_support
open Check

let failing () =
  let t = Bvar.create () in
  let tasks =
    List.init 2 (fun _ -> Hand.start (fun () -> (Bvar.wait t : int)))
  in
  Bvar.broadcast_exn t Exit;
  Hand.settle ();
  List.iter (fun task -> raises "both" Exit (fun () -> Hand.result task)) tasks

(* Each accepted signal must have arrived. *)
let domains () =
  let n = 2_000 and t = Bvar.create () in
  let received = Atomic.make 0 and over = Atomic.make 0 in
  let wait () =
    while Bvar.wait t >= 0 do
      Atomic.incr received
    done;
    Atomic.incr over
  in
  let joins = List.init 2 (fun _ -> domain (fun () -> Concord_fifo.run wait)) in
  for i = 1 to n do
    while not (Bvar.signal t i) do
      Domain.cpu_relax ()
    done
  done;
  eventually "all end" (fun () ->
      Bvar.broadcast t (-1);
      Atomic.get over = 2);
  List.iter (fun join -> join ()) joins;
  int "all arrive" n (Atomic.get received)

(* A choice finds another alternative ready while it begins to wait, but is too late to get
   it. A value that comes after that must reach the choice, because it counts as a waiter. *)
let enlisted_last () =
  let t = Bvar.create () and tries = ref 0 and waiting = ref (-1) in
  let event enlist withdraw =
    let attempt () () = None in
    Event.make
      {
        Structure_kit.default with
        name = "test";
        how = By_hand { attempt; enlist; withdraw };
      }
      () ()
  in
  let look () _ = waiting := Bvar.waiters t in
  let looks = event (fun () _ -> true) look in
  let taken () _ =
    incr tries;
    !tries > 1
  in
  let contended = event taken (fun () _ -> ()) in
  let task =
    Hand.start (fun () ->
        Event.sync (Event.prefer [ Bvar.wait_evt t; looks; contended ]))
  in
  int "it did not wait before it had to" 0 !waiting;
  int "it waits" 1 (Bvar.waiters t);
  Bvar.broadcast t 7;
  Hand.settle ();
  int "the value" 7 (Hand.result task)

let () =
  Check.run "Bvar"
    [
      ( "operations",
        [
          test "an exception" failing;
          test "in a choice, enlisted last" enlisted_last;
          test "domains" domains;
        ] );
    ]
