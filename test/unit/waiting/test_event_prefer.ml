(* Choices with an order: [prefer] and [unless]. *)

open Concord
open Concord_test_support
open Check

exception Boom

let ints = Alcotest.(check (list int))
let times n f = List.init n (fun _ -> f ())

let boxes n =
  List.init n (fun i ->
      let t = Mailbox.create () in
      Mailbox.add t i;
      t)

let takes = List.map Mailbox.take_evt
let waiting ts = List.fold_left (fun n t -> n + Mailbox.waiters t) 0 ts
let refill ts i = Mailbox.add (List.nth ts i) i

let first_ready () =
  let ts = boxes 3 in
  let next () = Event.sync (Event.prefer (takes ts)) in
  ints "in the order of the list" [ 0; 1; 2 ] (times 3 next);
  let ts = boxes 3 in
  let nested =
    match takes ts with
    | [ a; b; c ] -> Event.prefer [ Event.choose [ a; b ]; c ]
    | _ -> assert false
  in
  ignore (Event.sync nested : int);
  ignore (Event.sync nested : int);
  int "the last one" 2 (Event.sync nested);
  yes "none" (Event.poll nested = None);
  yes "of none" (Event.poll (Event.prefer []) = None)

let as_likely () =
  let ts = boxes 3 in
  let event =
    match takes ts with
    | [ a; b; c ] -> Event.choose [ Event.prefer [ a; b ]; c ]
    | _ -> assert false
  in
  let counts = Array.make 3 0 in
  for _ = 1 to 2000 do
    let i = Event.sync event in
    counts.(i) <- counts.(i) + 1;
    refill ts i
  done;
  int "never the second" 0 counts.(1);
  yes "half of them" (abs (counts.(0) - counts.(2)) < 400);
  (* The alternatives of an inner choice have no order. *)
  let ts = boxes 2 in
  let inner = Event.prefer [ Event.choose (takes ts) ] in
  let zeros = ref 0 in
  for _ = 1 to 2000 do
    let i = Event.sync inner in
    if i = 0 then incr zeros;
    refill ts i
  done;
  yes "each as often" (abs (!zeros - 1000) < 200)

let waits () =
  let ts = List.init 3 (fun _ -> Mailbox.create ()) in
  let start () = Hand.start (fun () -> Event.sync (Event.prefer (takes ts))) in
  for i = 0 to 2 do
    let task = start () in
    int "it waits for all" 3 (waiting ts);
    in_domain (fun () -> refill ts i);
    Hand.settle ();
    int "the first to come" i (Hand.result task);
    int "no task waits" 0 (waiting ts)
  done;
  let task = start () in
  Hand.unwind task;
  int "no task waits" 0 (waiting ts);
  let task = start () in
  Mailbox.close (List.nth ts 1);
  Hand.settle ();
  raises "the end" Mailbox.Closed (fun () -> Hand.result task);
  let task = start () in
  raises "at once" Mailbox.Closed (fun () -> Hand.result task)

let wrapped () =
  traced [ "aborted"; "wrapped" ] @@ fun say ->
  let ts = boxes 1 in
  let a = Event.wrap_abort Event.never (fun () -> say "aborted") in
  let event =
    Event.prefer
      [
        a;
        List.hd (takes ts);
        (Event.timeout 0. |> fun t -> Event.wrap t (fun () -> 7));
      ]
  in
  int "twice that" 0 (Event.sync (Event.wrap event (fun i -> 2 * i)));
  int "the timeout" 8
    (Event.sync
       (Event.wrap
          (Event.prefer
             [ Event.never; Event.wrap (Event.timeout 0.) (fun () -> 7) ])
          (fun i ->
            say "wrapped";
            i + 1)));
  int "handled" 9
    (Event.sync
       (Event.wrap_handler
          (Event.prefer [ Event.wrap (Event.always 1) (fun _ -> raise Boom) ])
          (fun _ -> 9)))

(* --- Unless ----------------------------------------------------------------------- *)

let taken = Alcotest.(check (option int))

let stop_wins () =
  let box = Mailbox.create () and stop = Promise.create () in
  let event = Event.unless (Promise.await_evt stop) (Mailbox.take_evt box) in
  yes "neither" (Event.poll event = None);
  Mailbox.add box 1;
  taken "not stopped" (Some 1) (Event.sync event);
  Mailbox.add box 2;
  Promise.fill stop ();
  for _ = 1 to 100 do
    taken "stopped" None (Event.sync event)
  done;
  yes "as a poll" (Event.poll event = Some None);
  taken "the item is there" (Some 2) (Mailbox.try_take box);
  int "no task waits" 0 (Mailbox.waiters box)

(* While the task waits, the event that comes first is performed, and the other one is not. *)
let waits_unless () =
  let box = Mailbox.create () and stop = Promise.create () in
  let start () =
    Hand.start (fun () ->
        Event.sync
          (Event.unless (Promise.await_evt stop) (Mailbox.take_evt box)))
  in
  let both = start () in
  int "it waits for an item" 1 (Mailbox.waiters box);
  int "and for the end" 1 (Promise.waiters stop);
  Hand.unwind both;
  int "cancelled" 0 (Mailbox.waiters box + Promise.waiters stop);
  let served = start () in
  Mailbox.add box 1;
  Hand.settle ();
  taken "an item" (Some 1) (Hand.result served);
  let late = start () in
  Mailbox.add box 2;
  Promise.fill stop ();
  Hand.settle ();
  taken "the item was first" (Some 2) (Hand.result late);
  let box = Mailbox.create () and stop = Promise.create () in
  let stopped =
    Hand.start (fun () ->
        Event.sync
          (Event.unless (Promise.await_evt stop) (Mailbox.take_evt box)))
  in
  Promise.fill stop ();
  Mailbox.add box 3;
  Hand.settle ();
  taken "the end was first" None (Hand.result stopped);
  taken "the item is there" (Some 3) (Mailbox.try_take box)

let raises_unless () =
  let box = Mailbox.create () and stop = Promise.create () in
  let event = Event.unless (Promise.await_evt stop) (Mailbox.take_evt box) in
  Mailbox.close box;
  raises "the queue's end" Mailbox.Closed (fun () -> Event.sync event);
  Promise.fail stop Boom;
  raises "a stop that failed" Boom (fun () -> Event.sync event)

(* One stop event serves several queues in a loop. *)
let loops_unless () =
  let a = Mailbox.create () and b = Mailbox.create () in
  let stop = Promise.create () in
  let next box = Event.unless (Promise.await_evt stop) (Mailbox.take_evt box) in
  let seen = ref [] in
  List.iter (Mailbox.add a) [ 1; 2; 3 ];
  Mailbox.add b 10;
  let loop =
    Hand.start (fun () ->
        Event.loop
          [ next a; next b ]
          (function
            | None -> Some (List.rev !seen)
            | Some v ->
                seen := v :: !seen;
                None))
  in
  Mailbox.add b 11;
  Hand.settle ();
  Promise.fill stop ();
  Hand.settle ();
  ints "all of both" [ 1; 2; 3; 10; 11 ]
    (List.sort Int.compare (Hand.result loop));
  int "no task waits" 0 (waiting [ a; b ] + Promise.waiters stop)

let () =
  run "prefer, unless"
    [
      ( "prefer",
        [
          test "the first that is ready" first_ready;
          test "as likely as each other alternative" as_likely;
          test "waits as a choice" waits;
          test "functions wrapped around it" wrapped;
        ] );
      ( "unless",
        [
          test "the stop wins if both are ready" stop_wins;
          test "the event that comes first while it waits" waits_unless;
          test "raises the exception of either" raises_unless;
          test "in a loop" loops_unless;
        ] );
    ]
