(* Reads queues to their end, and writes sequences into them, in monadic style. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax
module L = Concord_lwt

exception Boom

let run = L.run
let sleeps p = Lwt.state p = Lwt.Sleep
let count n = Seq.take n (Seq.ints 1)
let total n = n * (n + 1) / 2

let fails what e p =
  Lwt.try_bind
    (fun () -> p)
    (fun _ -> Alcotest.failf "%s has a value" what)
    (fun e' ->
      yes (Printf.sprintf "%s: %s" what (Printexc.to_string e')) (e = e');
      Lwt.return_unit)

let mailbox items =
  let t = Mailbox.create () in
  Mailbox.add_seq t items;
  t

(* There are so many items that a nested call for each would overflow the stack. Other tasks
   run meanwhile. *)
let many () =
  run @@ fun () ->
  let n = 1_000_000 in
  let over = ref false and turns = ref 0 in
  let rec others () =
    incr turns;
    if !over then Lwt.return_unit else Lwt.bind (Lwt.pause ()) others
  in
  let others = others () in
  let t = mailbox (count n) in
  Mailbox.close t;
  let* sum = L.Mailbox.fold ( + ) 0 t in
  int "all" (total n) sum;
  let u = Mailbox.create () in
  let* () = L.Mailbox.add_seq u (count n) in
  int "added" n (Mailbox.length u);
  over := true;
  let+ () = others in
  yes "others ran" (!turns > 2)

let ends () =
  run @@ fun () ->
  let t = Broadcast.create () in
  let s = Broadcast.subscribe t in
  let next = L.Broadcast.next s and iter = L.Broadcast.iter ignore s in
  yes "they wait" (sleeps next && sleeps iter);
  Check.in_domain (fun () -> Broadcast.close t);
  let* v = next in
  yes "the end" (v = None);
  let* () = iter in
  let* v = L.Broadcast.next s in
  yes "at once" (v = None);
  let* v = L.sync (Broadcast.next_evt s) in
  yes "its event" (v = None);
  fails "send_seq" Broadcast.Closed (L.Broadcast.send_seq t (count 1))

let held_back () =
  run @@ fun () ->
  let t = Broadcast.create ~limit:(Wait 1) () in
  L.Broadcast.with_subscription t @@ fun s ->
  let* () = L.Broadcast.send t 1 in
  let second = L.Broadcast.send t 2 and third = L.Broadcast.send t 3 in
  yes "they wait" (sleeps second && sleeps third);
  Lwt.cancel second;
  let* v = L.Broadcast.receive s in
  int "the first" 1 v;
  let* () = third in
  let* v = L.Broadcast.receive s in
  int "it was not sent" 3 v;
  let* () = L.Broadcast.send_seq t (count 1) in
  Broadcast.close t;
  fails "send" Broadcast.Closed (L.Broadcast.send t 4)

let missed () =
  run @@ fun () ->
  let t = Broadcast.create ~limit:(Drop_oldest 1) () in
  let s = Broadcast.subscribe t in
  let send () = Broadcast.send_seq t (count 3) in
  send ();
  let* () = fails "receive" (Broadcast.Lagged 2) (L.Broadcast.receive s) in
  let* v = L.Broadcast.receive s in
  int "the last one" 3 v;
  send ();
  let* () = fails "next" (Broadcast.Lagged 2) (L.Broadcast.next s) in
  send ();
  fails "iter" (Broadcast.Lagged 3) (L.Broadcast.iter ignore s)

let failures () =
  run @@ fun () ->
  let check what read =
    let t = mailbox (count 3) in
    let* () = fails what Boom (read t) in
    int (what ^ ": what is behind stays") 1 (Mailbox.length t);
    Lwt.return_unit
  in
  let boom v = if v = 2 then raise Boom in
  let* () = check "iter" (L.Mailbox.iter boom) in
  let* () =
    check "fold" (fun t -> Lwt.map ignore (L.Mailbox.fold (fun _ -> boom) () t))
  in
  let* () =
    check "iter_s, raising"
      (L.Mailbox.iter_s (fun v ->
           boom v;
           Lwt.return_unit))
  in
  let* () =
    check "iter_s, failing"
      (L.Mailbox.iter_s (fun v ->
           if v = 2 then Lwt.fail Boom else Lwt.return_unit))
  in
  let t = Stream.create 9 in
  fails "add_seq" Boom
    (L.Stream.add_seq t
       (Seq.map
          (fun v ->
            boom v;
            v)
          (count 3)))

let cancelled () =
  run @@ fun () ->
  let t = Stream.create 1 in
  let cancel what p =
    Lwt.cancel p;
    let* () = fails what Lwt.Canceled p in
    int "no task waits" 0 (Stream.waiters t);
    Lwt.return_unit
  in
  let* () = cancel "next" (Lwt.map ignore (L.Stream.next t)) in
  let* () = cancel "iter" (L.Stream.iter ignore t) in
  let* () = cancel "iter_s" (L.Stream.iter_s (fun _ -> Lwt.return_unit) t) in
  let* () = cancel "add_seq" (L.Stream.add_seq t (count 3)) in
  yes "what was added stays" (Stream.drain t = [ 1 ]);
  let p = L.Stream.next t in
  Stream.add t 2;
  Lwt.cancel p;
  let+ () = fails "undone" Lwt.Canceled p in
  yes "it gave its item back" (Stream.try_take t = Some 2)

(* The sequence waits, because it reads another queue. *)
let sequence_that_waits () =
  run @@ fun () ->
  let t = Stream.create 1 and u = Mailbox.create () in
  let p = L.Mailbox.add_seq u (Stream.to_seq t) in
  let q = L.direct (fun () -> List.of_seq (Mailbox.to_seq u)) in
  yes "it waits" (sleeps p);
  let* () = L.Stream.add_seq t (count 5) in
  Stream.close t;
  let* () = p in
  Mailbox.close u;
  let+ vs = q in
  yes "all" (vs = [ 1; 2; 3; 4; 5 ])

(* Rounds that never wait let others run. Rounds that wait can be cancelled. *)
let loops () =
  run @@ fun () ->
  let n = 200_000 in
  let t = mailbox (count n) and turns = ref 0 and over = ref false in
  let rec others () =
    incr turns;
    if !over then Lwt.return_unit else Lwt.bind (Lwt.pause ()) others
  in
  let others = others () in
  let loop f = L.loop [ Mailbox.take_evt t ] f in
  let* last = loop (fun v -> Lwt.return (if v = n then Some v else None)) in
  int "the last one" n last;
  over := true;
  let* () = others in
  yes "others ran" (!turns > 2);
  let p = loop (fun _ -> Lwt.return None) in
  yes "it waits" (sleeps p);
  Lwt.cancel p;
  let* () = fails "cancelled" Lwt.Canceled p in
  int "no task waits" 0 (Mailbox.waiters t);
  Mailbox.add t 1;
  let* () = fails "raising" Boom (loop (fun _ -> raise Boom)) in
  let p = loop (fun v -> Lwt.return (Some v)) in
  Check.in_domain (fun () -> Mailbox.close t);
  fails "closed" Mailbox.Closed (Lwt.map ignore p)

let () =
  Check.run "Concord_lwt, reading to the end"
    [
      ( "to the end",
        [
          test "a million items that are there" many;
          test "the end" ends;
          test "values that are missed" missed;
          test "senders that wait" held_back;
          test "functions that fail" failures;
          test "cancelled" cancelled;
          test "a sequence that waits" sequence_that_waits;
        ] );
      ("choices", [ test "loop" loops ]);
    ]
