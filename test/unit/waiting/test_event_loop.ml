(* [Event.loop] serves several events in turn. *)

open Concord
open Concord_test_support
open Check

exception Boom

let ints = Alcotest.(check (list int))

let boxes n =
  List.init n (fun i ->
      let t = Mailbox.create () in
      Mailbox.add t i;
      t)

let takes = List.map Mailbox.take_evt
let waiting ts = List.fold_left (fun n t -> n + Mailbox.waiters t) 0 ts

(* Runs [n] rounds. In each round every mailbox contains its number. *)
let refill ts i = Mailbox.add (List.nth ts i) i

let rounds ?(n = 100) ts events =
  let left = ref n and seen = ref [] in
  Event.loop events (fun i ->
      seen := i :: !seen;
      refill ts i;
      decr left;
      if !left = 0 then Some (List.rev !seen) else None)

(* All events are always ready, so each must be served in turn. *)
let in_turn () =
  let ts = boxes 4 in
  ints "one after the other"
    (List.init 100 (fun i -> i mod 4))
    (rounds ts (takes ts));
  let guarded =
    List.mapi
      (fun i t -> if i = 3 then Event.guard (fun () -> t) else t)
      (takes ts)
  in
  ints "with an event that is made in each round"
    (List.init 100 (fun i -> i mod 4))
    (rounds ts guarded);
  (* An event that isn't ready is passed over, and is served once it is. *)
  ignore (Mailbox.take (List.nth ts 2) : int);
  ints "but one" [ 0; 1; 3; 0; 1 ] (rounds ~n:5 ts (takes ts))

let every_one_in_n () =
  let ts = boxes 5 in
  let last = Array.make 5 0 and round = ref 0 in
  Event.loop (takes ts) (fun i ->
      incr round;
      yes "within as many rounds" (!round - last.(i) <= 5);
      last.(i) <- !round;
      refill ts i;
      (* The others become ready and unready. *)
      ignore (Mailbox.try_take (List.nth ts (!round * 7 mod 4)) : int option);
      Array.iteri
        (fun i seen -> if i = 4 then yes "always ready" (!round - seen < 5))
        last;
      if !round = 200 then Some () else None)

let loop_waits () =
  let a = Mailbox.create ()
  and b = Stream.create 1
  and stop = Promise.create () in
  let sum = ref 0 in
  let task =
    Hand.start (fun () ->
        Event.loop
          [
            Event.wrap (Mailbox.take_evt a) Option.some;
            Event.wrap (Stream.take_evt b) Option.some;
            Event.wrap (Promise.await_evt stop) (fun () -> None);
          ]
          (function
            | Some v ->
                sum := !sum + v;
                None
            | None -> Some !sum))
  in
  let idle what n =
    int what n (Mailbox.waiters a + Stream.waiters b + Promise.waiters stop)
  in
  for i = 1 to 10 do
    idle "it waits for all" 3;
    if i mod 2 = 0 then Mailbox.add a i
    else in_domain (fun () -> Stream.add b i);
    Hand.settle ()
  done;
  Mailbox.add a 11;
  no "too late" (Hand.cancel task);
  Hand.settle ();
  Promise.fill stop ();
  Hand.settle ();
  int "all" 66 (Hand.result task);
  idle "no task waits" 0

let loop_ends () =
  let a = Mailbox.create () and b = Mailbox.create () in
  let start () =
    Hand.start (fun () -> Event.loop (takes [ a; b ]) (fun _ -> None))
  in
  let task = start () in
  Mailbox.add a 1;
  Hand.settle ();
  Hand.unwind task;
  int "no task waits" 0 (waiting [ a; b ]);
  Mailbox.add a 2;
  int "nothing was lost" 2 (Mailbox.take a);
  raises "the function's" Boom (fun () ->
      Mailbox.add a 3;
      Event.loop (takes [ a; b ]) (fun _ -> raise Boom));
  let task = start () in
  Mailbox.close b;
  Hand.settle ();
  raises "the end" Mailbox.Closed (fun () -> Hand.result task);
  let task = Hand.start (fun () -> Event.loop [] (fun () -> None)) in
  yes "of none" (Hand.waits task);
  Hand.unwind task

(* Counts the guards and functions that run in each round. *)
let each_round () =
  let made = ref 0 and aborted = ref 0 and late = ref 0 in
  let a = Mailbox.create () in
  for i = 1 to 4 do
    Mailbox.add a i
  done;
  let events =
    [
      Mailbox.take_evt a;
      Event.guard (fun () ->
          incr made;
          Event.never);
      Event.wrap_abort Event.never (fun () -> incr aborted);
      Event.wrap (Event.timeout 0.001) (fun () -> 5);
    ]
  in
  Event.loop events (fun i ->
      if i = 5 then incr late;
      if !late = 2 then Some () else None);
  int "made anew" 6 !made;
  int "aborted" 6 !aborted

(* Two tasks exchange values, each with a loop over both directions. *)
let meet () =
  let n = 2_000 in
  let a = Channel.create () and b = Channel.create () in
  let side mine other () =
    let rounds = ref 0 and sum = ref 0 in
    Event.loop
      [
        Event.wrap (Channel.send_evt mine 1) (fun () -> 0);
        Channel.receive_evt other;
      ]
      (fun v ->
        incr rounds;
        sum := !sum + v;
        if !rounds = n then Some !sum else None)
  in
  let join = domain (side a b) in
  let here = side b a () in
  int "each meeting has two sides" n (here + join ())

(* --- Memory ----------------------------------------------------------------- *)

(* Words allocated in a round that is ready at once. *)
let words_per_round perform =
  let rounds = 10_000 in
  perform 100;
  let before = Gc.minor_words () in
  perform rounds;
  (Gc.minor_words () -. before) /. float rounds

(* Always ready, and takes no memory itself. *)
let ready = Event.wrap (Promise.await_evt (Promise.of_value 1)) Fun.id

let by_loop n count =
  let left = ref count in
  Event.loop
    (List.init n (fun _ -> ready))
    (fun _ ->
      decr left;
      if !left = 0 then Some () else None)

let by_select n count =
  let events = List.init n (fun _ -> ready) in
  for _ = 1 to count do
    ignore (Event.select events : int)
  done

let memory () =
  let few = words_per_round (by_loop 2) in
  let many = words_per_round (by_loop 16) in
  let select = words_per_round (by_select 16) in
  Printf.printf "words in a round: loop %.1f of 2, %.1f of 16; select %.1f\n"
    few many select;
  yes "as many of 16 as of 2" (Float.abs (many -. few) < 0.5);
  yes "at most 24" (many <= 24.);
  yes "a select makes its alternatives" (select > 10. *. many)

let () =
  run "Event.loop"
    [
      ( "loop",
        [
          test "each in turn" in_turn;
          test "an event that is always ready is not passed over" every_one_in_n;
          test "waits for all, round after round" loop_waits;
          test "cancelled, raising, closed" loop_ends;
          test "guards and aborts in each round" each_round;
          test "two loops meet" meet;
          test "no memory for the alternatives" memory;
        ] );
    ]
