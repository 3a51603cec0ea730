open Concord
open Concord_test_support
open Concord_test_hosts
open Check
open Cancelling

(* --- Several lazy values -------------------------------------------------- *)

(* [y] needs [x]. Both restart when the task that computes both is cancelled. *)
let nested () =
  traced [ "y"; "x"; "cancelled"; "y"; "x"; "b=2" ] @@ fun say ->
  let gate = Promise.create () in
  let x =
    Lazy.from_fun (fun () ->
        say "x";
        Promise.await gate)
  in
  let y =
    Lazy.from_fun (fun () ->
        say "y";
        Lazy.force x + 1)
  in
  let a =
    Hand.start (fun () ->
        try Lazy.force y
        with _ ->
          say "cancelled";
          0)
  in
  let b = Hand.start (fun () -> Lazy.force y) in
  Hand.stop a;
  Hand.settle ();
  Promise.fill gate 1;
  Hand.settle ();
  say (Printf.sprintf "b=%d" (Hand.result b))

(* The task that computes [y] waits for [x]. It has to take over the computation of [x] when
   that is cancelled. *)
let inherits () =
  traced [ "x"; "y"; "cancelled"; "x"; "y=3" ] @@ fun say ->
  let gate = Promise.create () in
  let x =
    Lazy.from_fun (fun () ->
        say "x";
        Promise.await gate)
  in
  let y =
    Lazy.from_fun (fun () ->
        say "y";
        Lazy.force x + 1)
  in
  let a =
    Hand.start (fun () ->
        try Lazy.force x
        with _ ->
          say "cancelled";
          0)
  in
  let b = Hand.start (fun () -> Lazy.force y) in
  int "it waits" 1 (Lazy.waiters x);
  Hand.stop a;
  Hand.settle ();
  Promise.fill gate 2;
  Hand.settle ();
  say (Printf.sprintf "y=%d" (Hand.result b))

(* The task then computes both, so it is an error if [x] needs [y]. *)
let inherits_a_cycle () =
  let gate = Promise.create () and first = ref true in
  let y = ref (Lazy.from_val 0) in
  let x =
    Lazy.from_fun (fun () ->
        if !first then begin
          first := false;
          Promise.await gate
        end
        else Lazy.force !y)
  in
  y := Lazy.from_fun (fun () -> Lazy.force x + 1);
  let a = Hand.start (fun () -> try Lazy.force x with _ -> 0) in
  let b = Hand.start (fun () -> Lazy.force !y) in
  Hand.stop a;
  Hand.settle ();
  raises "y" Lazy.Undefined (fun () -> Hand.result b)

(* [y] waited for [x], was cancelled there and continues without it. If [x] needs [y] later,
   this former need must not close a cycle. *)
let needs_no_more () =
  let gate = Promise.create () and x_gate = Promise.create () in
  let y = ref (Lazy.from_val 0) in
  let x =
    Lazy.from_fun (fun () ->
        Promise.await x_gate;
        Lazy.force !y + 1)
  in
  (y :=
     Lazy.from_fun @@ fun () ->
     try Lazy.force x with Hand.Cancelled -> Promise.await gate);
  let b = Hand.start (fun () -> Lazy.force x) in
  let a = Hand.start (fun () -> Lazy.force !y) in
  int "y waits for x" 1 (Lazy.waiters x);
  yes "cancel" (Hand.cancel a);
  Hand.settle ();
  Promise.fill x_gate ();
  Hand.settle ();
  int "x waits for y" 1 (Lazy.waiters !y);
  Promise.fill gate 1;
  Hand.settle ();
  int "y" 1 (Hand.result a);
  int "x" 2 (Hand.result b)

(* [y] was cancelled where it needed [x], and now needs [z]. Meanwhile [x] got [Undefined]
   and continues without [y]. [z] needs [x], but there is no cycle. *)
let needs_no_more_after_undefined () =
  let x_begins = Promise.create () and x_ends = Promise.create () in
  let y_goes_on = Promise.create () in
  let x = ref (Lazy.from_val 0) and z = ref (Lazy.from_val 0) in
  let y =
    Lazy.from_fun (fun () ->
        let v = try Lazy.force !x with Hand.Cancelled -> 1 in
        Promise.await y_goes_on;
        v + Lazy.force !z)
  in
  (x :=
     Lazy.from_fun @@ fun () ->
     Promise.await x_begins;
     try Lazy.force y with Lazy.Undefined -> Promise.await x_ends);
  z := Lazy.map succ !x;
  let a = Hand.start (fun () -> Lazy.force !x) in
  let b = Hand.start (fun () -> Lazy.force y) in
  int "y waits for x" 1 (Lazy.waiters !x);
  Promise.fill x_begins ();
  Hand.settle ();
  int "x got Undefined" 1 (Promise.waiters x_ends);
  yes "cancel" (Hand.cancel b);
  Hand.settle ();
  let c = Hand.start (fun () -> Lazy.force !z) in
  int "z waits for x" 1 (Lazy.waiters !x);
  Promise.fill y_goes_on ();
  Hand.settle ();
  int "y waits for z" 1 (Lazy.waiters !z);
  Promise.fill x_ends 10;
  Hand.settle ();
  int "x" 10 (Hand.result a);
  int "y" 12 (Hand.result b);
  int "z" 11 (Hand.result c)

(* [x] raised, and [y] continues without it. *)
let needs_no_more_after_a_failure () =
  let gate = Promise.create () and x_gate = Promise.create () in
  let z_gate = Promise.create () in
  let y = ref (Lazy.from_val 0) in
  let x =
    Lazy.from_fun (fun () ->
        Promise.await x_gate;
        raise Exit)
  in
  (y :=
     Lazy.from_fun @@ fun () ->
     try Lazy.force x with Exit -> Promise.await gate);
  let z =
    Lazy.from_fun (fun () ->
        Promise.await z_gate;
        Lazy.force !y + 1)
  in
  let b = Hand.start (fun () -> try Lazy.force x with Exit -> 0) in
  let a = Hand.start (fun () -> Lazy.force !y) in
  let c = Hand.start (fun () -> Lazy.force z) in
  Promise.fill x_gate ();
  Hand.settle ();
  Promise.fill z_gate ();
  Hand.settle ();
  int "z waits for y" 1 (Lazy.waiters !y);
  Promise.fill gate 1;
  Hand.settle ();
  int "x" 0 (Hand.result b);
  int "y" 1 (Hand.result a);
  int "z" 2 (Hand.result c)

(* The computing task is cancelled just before the next one registers. *)
let restart_before_block () =
  let gate = Promise.create () and runs = ref 0 in
  let t =
    Lazy.from_fun (fun () ->
        incr runs;
        Promise.await gate)
  in
  let a = Hand.start (fun () -> try Lazy.force t with Hand.Cancelled -> 0) in
  let before_block () =
    if !runs = 1 then begin
      Hand.stop a;
      Hand.settle ()
    end
  in
  let b = Hand.start ~before_block (fun () -> Lazy.force t) in
  int "b computes it" 2 !runs;
  let c = Hand.start (fun () -> Lazy.force t) in
  Promise.fill gate 4;
  Hand.settle ();
  List.iter2 (int "value") [ 0; 4; 4 ] (List.map Hand.result [ a; b; c ])

(* Stdlib's lazy value would remember the cancellation, so other tasks would get it too.
   Therefore the computation is protected. *)
let of_stdlib () =
  let gate = Promise.create () in
  let t = Lazy.of_stdlib (lazy (Promise.await gate)) in
  let a = Hand.start (fun () -> Lazy.force t) in
  let b = Hand.start (fun () -> Lazy.force t) in
  Hand.stop a;
  Hand.settle ();
  yes "protected" (Hand.waits a);
  Promise.fill gate 5;
  Hand.settle ();
  List.iter (fun task -> int "value" 5 (Hand.result task)) [ a; b ]

let () =
  run "Lazy: cancellation"
    [
      Lazy_policies.suite "by hand" hand;
      Lazy_policies.suite "Fifo" (fifo `Eager);
      Lazy_policies.suite "Fifo, lazy" (fifo `Lazy);
      Lazy_policies.suite "Eio" (Cancelling.eio ~protects:true);
      ( "several lazy values",
        [
          test "cancelled before a registration" restart_before_block;
          test "one value within another" nested;
          test "a waiter computes both" inherits;
          test "of_stdlib" of_stdlib;
          test "a waiter that closes a cycle" inherits_a_cycle;
          test "a wait that was cancelled" needs_no_more;
          test "a wait that was Undefined" needs_no_more_after_undefined;
          test "a wait for one that failed" needs_no_more_after_a_failure;
        ] );
    ]
