open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

(* --- Captured values ------------------------------------------------------ *)

(* A lazy value whose computation captures the target of the weak pointer. *)
let[@inline never] capturing ?cancel compute =
  let weak = Weak.create 1 in
  let captured = Array.make 100 7 in
  Weak.set weak 0 (Some captured);
  (Lazy.from_fun ?cancel (fun () -> compute captured.(0)), weak)

let kept weak =
  Gc.full_major ();
  Weak.check weak 0

let check_collected ?cancel ?(force = Lazy.force) compute () =
  let t, weak = capturing ?cancel compute in
  yes "kept, unforced" (kept weak);
  (match force t with (_ : int) -> () | exception Boom -> ());
  no "kept, forced" (kept weak);
  yes "the lazy value is held" (Lazy.peek t <> None)

let raises_boom (_ : int) = raise Boom
let each_policy f = List.iter f [ `Restart; `Record; `Protect ]

let after_value () =
  each_policy (fun cancel -> check_collected ~cancel Fun.id ())

let after_failure () =
  each_policy (fun cancel -> check_collected ~cancel raises_boom ())

let in_fifo () =
  check_collected Fun.id () ~force:(fun t -> Fifo.run (fun () -> Lazy.force t))

let through_event () =
  let force t =
    let watcher = Hand.start (fun () -> Event.sync (Lazy.await_evt t)) in
    ignore (Lazy.force t : int);
    Hand.settle ();
    Hand.result watcher
  in
  check_collected Fun.id ~force ()

(* [map] keeps the original value only as long as it needs it. *)
let[@inline never] mapped () =
  let t = Lazy.from_val (Array.make 10 7) in
  let weak = Weak.create 1 in
  Weak.set weak 0 (Some t);
  (Lazy.map (fun a -> a.(0)) t, weak)

let after_map () =
  let u, weak = mapped () in
  yes "kept, unforced" (kept weak);
  int "value" 7 (Lazy.force u);
  no "kept, forced" (kept weak);
  int "value" 7 (Lazy.force u)

let[@inline never] of_stdlib_capturing () =
  let captured = Array.make 100 7 and weak = Weak.create 1 in
  Weak.set weak 0 (Some captured);
  (Lazy.of_stdlib (lazy captured.(0)), weak)

let after_of_stdlib () =
  let t, weak = of_stdlib_capturing () in
  yes "kept, unforced" (kept weak);
  int "value" 7 (Lazy.force t);
  no "kept, forced" (kept weak);
  int "value" 7 (Lazy.force t)

(* A computation that waited for another value and continues must not keep that value. *)
let[@inline never] other () =
  let gate = Promise.create () in
  let other = Lazy.from_fun (fun () -> Promise.await gate) in
  let weak = Weak.create 1 in
  Weak.set weak 0 (Some other);
  (gate, ref (Some other), weak)

let after_waiting () =
  let first, cell, weak = other () and second = Promise.create () in
  let[@inline never] take () = Lazy.force (Option.get !cell) in
  let compute () =
    take ();
    Promise.await second
  in
  let t = Lazy.from_fun compute in
  let a = Hand.start take in
  let b = Hand.start (fun () -> Lazy.force t) in
  int "it waits for the other" 1 (Lazy.waiters (Option.get !cell));
  cell := None;
  yes "kept, needed" (kept weak);
  Promise.fill first ();
  Hand.settle ();
  Hand.result a;
  yes "it continues" (Hand.waits b);
  no "kept, forced" (kept weak);
  Promise.fill second ();
  Hand.settle ();
  Hand.result b;
  Lazy.force t

(* --- Waiters -------------------------------------------------------------- *)

let n = 1000
let value_words () = words (Lazy.from_val 7)

let failed_words () =
  let t = Lazy.from_fun (fun () -> raise Boom) in
  (try Lazy.force t with Boom -> ());
  words t

(* The value is as large as one without waiters. *)
let after_waiters () =
  let gate = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await gate) in
  let tasks = List.init n (fun _ -> Hand.start (fun () -> Lazy.force t)) in
  let sync () = Event.sync (Lazy.await_evt t) in
  let watchers = List.init n (fun _ -> Hand.start sync) in
  int "waiters" (n - 1 + n) (Lazy.waiters t);
  yes "they take memory" (words t > 2 * n);
  Promise.fill gate 7;
  Hand.settle ();
  List.iter (fun task -> int "value" 7 (Hand.result task)) (tasks @ watchers);
  int "words" (value_words ()) (words t)

let after_waiters_of_a_failure () =
  let gate = Promise.create () in
  let t =
    Lazy.from_fun (fun () ->
        Promise.await gate;
        raise Boom)
  in
  let start () = Hand.start (fun () -> try Lazy.force t with Boom -> ()) in
  let tasks = List.init n (fun _ -> start ()) in
  Promise.fill gate ();
  Hand.settle ();
  List.iter Hand.result tasks;
  (* The exception comes with its backtrace. *)
  yes "words" (words t < failed_words () + 200)

(* The computation never ends. *)
let never () =
  let t = Lazy.from_fun (fun () -> Promise.await (Promise.create ())) in
  let (_ : unit Hand.t) = Hand.start (fun () -> Lazy.force t) in
  t

let cancelled_waits wait () =
  let t = never () in
  let start () = Hand.start (fun () -> wait t) in
  let cancel task = ignore (Hand.cancel task : bool) in
  let before = words t in
  for _ = 1 to 10 * n do
    cancel (start ());
    Hand.settle ()
  done;
  int "one by one: waiters" 0 (Lazy.waiters t);
  int "one by one: words" before (words t);
  let tasks = List.init n (fun _ -> start ()) in
  let during = words t in
  List.iter cancel tasks;
  Hand.settle ();
  int "all at once: waiters" 0 (Lazy.waiters t);
  int "all at once: words" before (words t);
  (* Ten waiters stay. The queue may be twice as long, plus one entry. *)
  let each = (during - before) / n in
  let _stay = List.init 10 (fun _ -> start ()) in
  for _ = 1 to n do
    cancel (start ());
    Hand.settle ()
  done;
  yes "beside ten that stay" (words t <= before + (22 * (each + 3)))

let lost_events () =
  let t = never () and box = Mvar.create_empty () in
  let choose () =
    Event.select [ Event.wrap (Lazy.await_evt t) ignore; Mvar.take_evt box ]
  in
  let before = words t in
  for _ = 1 to 10 * n do
    let task = Hand.start choose in
    Mvar.put box ();
    Hand.settle ();
    Hand.result task
  done;
  int "words" before (words t)

(* A restart must not keep the cancelled computation. *)
let restarts () =
  let t = Lazy.from_fun (fun () -> Promise.await (Promise.create ())) in
  let cancelled () =
    let task = Hand.start (fun () -> Lazy.force t) in
    Hand.stop task;
    Hand.settle ();
    raises "it was cancelled" Hand.Cancelled (fun () -> Hand.result task)
  in
  cancelled ();
  let before = words t in
  for _ = 1 to n do
    cancelled ()
  done;
  int "words" before (words t)

(* --- Depth ---------------------------------------------------------------- *)

(* While waits are kept, each computation asks for its task. The question passes through all
   outer computations, so the chain has to be shorter. *)
let depth = if debugged_with "waits" then 5_000 else 100_000

(* Each value forces the next one, and the last one is [bottom]. *)
let chain ?(depth = depth) bottom =
  let rec go n t =
    if n = 0 then t else go (n - 1) (Lazy.from_fun (fun () -> Lazy.force t + 1))
  in
  go depth bottom

(* An exception makes each computation ask whether its task is cancelled. The question
   passes through all outer computations, so these chains are shorter. *)
let shorter = 5_000
let deep () = int "value" depth (Lazy.force (chain (Lazy.from_val 0)))

let deep_failure () =
  raises "the first" Boom (fun () ->
      Lazy.force (chain ~depth:shorter (Lazy.from_fun (fun () -> raise Boom))))

let deep_cycle () =
  let top = ref (Lazy.from_val 0) in
  top := chain ~depth:shorter (Lazy.from_fun (fun () -> Lazy.force !top));
  raises "the first" Lazy.Undefined (fun () -> Lazy.force !top)

(* Another task is forcing the last value. *)
let deep_wait () =
  let gate = Promise.create () in
  let bottom = Lazy.from_fun (fun () -> Promise.await gate) in
  let join = thread (fun () -> ignore (Lazy.force bottom : int)) in
  eventually "it is being forced" (fun () -> Promise.waiters gate = 1);
  let filler =
    thread (fun () ->
        eventually "the chain waits" (fun () -> Lazy.waiters bottom = 1);
        Promise.fill gate 1)
  in
  int "value" (depth + 1) (Lazy.force (chain bottom));
  filler ();
  join ()

let both name f =
  [ test name f; test (name ^ ", in Fifo") (fun () -> Fifo.run f) ]

let () =
  run "Lazy: memory and depth"
    [
      ( "captured values are collected",
        [
          test "after the value" after_value;
          test "after a failure" after_failure;
          test "forced in Fifo" in_fifo;
          test "with a watcher" through_event;
          test "of map" after_map;
          test "of of_stdlib" after_of_stdlib;
          test "the value that it waited for" after_waiting;
        ] );
      ( "waiters leave nothing behind",
        [
          test "1000 waiters and 1000 events" after_waiters;
          test "1000 waiters of a failure" after_waiters_of_a_failure;
          test "10,000 cancelled waits" (cancelled_waits Lazy.force);
          test "10,000 cancelled events"
            (cancelled_waits (fun t -> Event.sync (Lazy.await_evt t)));
          test "10,000 lost events" lost_events;
          test "1000 restarts" restarts;
        ] );
      ( "a chain of 100,000",
        both "each forces the next" deep
        @ both "5,000: the last one fails" deep_failure
        @ both "5,000: the last one needs the first" deep_cycle
        @ both "the last one is being forced" deep_wait );
    ]
