(* Cases for Eio fibers as tasks. They run with concord-eio and without it, where fibers are
   reached through Domain_local_await. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

let[@inline never] culprit () = if true then raise Boom
let main f () = Eio_main.run (fun _ -> f ())
let both = Eio.Fiber.both

let backtrace () =
  let p = Promise.create () in
  both
    (fun () -> raises_at "culprit" (fun () -> Promise.await p))
    (fun () -> try culprit () with e -> Promise.fail p e)

(* The fiber is resumed first and cancelled afterwards in the same turn of the loop, so it
   keeps its value. *)
let resumed_then_cancelled () =
  let box = Mvar.create_empty () in
  let got = ref 0 in
  Eio.Fiber.first
    (fun () ->
      got := Mvar.take box;
      raises "the next suspension raises" (Eio.Cancel.Cancelled Boom) (fun () ->
          try Eio.Fiber.check ()
          with Eio.Cancel.Cancelled _ -> raise (Eio.Cancel.Cancelled Boom)))
    (fun () -> Mvar.put box 3);
  int "it has its value" 3 !got

(* The fiber is cancelled and then resumed, before it runs again. Here either may win. The
   result tells the caller which one did. *)
let cancelled_then_resumed () =
  let box = Mvar.create_empty () in
  let got = ref 0 in
  (try
     Eio.Switch.run (fun sw ->
         Eio.Fiber.fork ~sw (fun () -> got := Mvar.take box);
         Eio.Switch.fail sw Boom;
         Mvar.put box 3)
   with Boom -> ());
  let left = Option.value (Mvar.try_take box) ~default:0 in
  int "the value is in one place" 3 (!got + left);
  int "no task waits" 0 (Mvar.waiters box);
  !got

let already_cancelled () =
  let p = Promise.create () in
  let refused = ref false in
  (try
     Eio.Switch.run (fun sw ->
         Eio.Switch.fail sw Boom;
         try Promise.await p with Eio.Cancel.Cancelled _ -> refused := true)
   with Boom -> ());
  yes "refused" !refused;
  int "no waiter" 0 (Promise.waiters p)

let bulk () =
  let p : int Promise.t = Promise.create () in
  let before = words p in
  (try
     Eio.Switch.run (fun sw ->
         for _ = 1 to 10_000 do
           Eio.Fiber.fork ~sw (fun () -> ignore (Promise.await p))
         done;
         int "all wait" 10_000 (Promise.waiters p);
         Eio.Switch.fail sw Boom)
   with Boom -> ());
  int "none waits" 0 (Promise.waiters p);
  int "words" before (words p)

let suspend_contract () =
  let open Suspend in
  let calls = ref 0 in
  int "Some v" 1
    (suspend (fun _ ->
         incr calls;
         Some 1));
  int "resumed in block" 2
    (suspend (fun r ->
         incr calls;
         yes "first" (r (Ok 2));
         no "second" (r (Ok 3));
         None));
  raises "block raises" Boom (fun () ->
      suspend (fun _ ->
          incr calls;
          culprit ();
          None));
  raises "an exception" Exit (fun () ->
      suspend (fun r ->
          incr calls;
          ignore (r (Error Exit));
          None));
  int "block was called once each" 4 !calls

(* --- Threads beside a loop of Eio ------------------------------------------ *)

let systhread () =
  let p = Promise.create () in
  both
    (fun () ->
      let v = Eio_unix.run_in_systhread (fun () -> Promise.await p) in
      int "in a systhread" 4 v)
    (fun () ->
      eventually ~pause:Eio.Fiber.yield "it waits" (fun () ->
          Promise.waiters p = 1);
      Promise.fill p 4)

let thread_of_a_spawned_domain () =
  let f () =
    Eio_main.run @@ fun _ ->
    let p = Promise.create () and got = Promise.create () in
    let thread =
      Thread.create (fun () -> Promise.fill got (Promise.await p)) ()
    in
    eventually ~pause:Eio.Fiber.yield "it waits" (fun () ->
        Promise.waiters p = 1);
    Promise.fill p 6;
    let v = Promise.await got in
    Thread.join thread;
    v
  in
  int "value" 6 (in_domain f)

let after_the_loop_has_ended () =
  let exchange () =
    let p = Promise.create () in
    let thread =
      Thread.create
        (fun () ->
          eventually "it waits" (fun () -> Promise.waiters p = 1);
          Promise.fill p 1)
        ()
    in
    int "value" 1 (Promise.await p);
    Thread.join thread
  in
  let rounds () =
    for _ = 1 to 3 do
      main exchange ();
      exchange ();
      in_thread exchange;
      Fifo.run exchange
    done
  in
  rounds ();
  in_domain rounds

let waiting =
  [
    test "a failure keeps its backtrace" (main backtrace);
    test "the contract of Suspend" (main suspend_contract);
  ]

let cancellation =
  [
    test "resumed, then cancelled: has its value" (main resumed_then_cancelled);
    test "cancelled, then put: the value is not lost"
      (main (fun () -> ignore (cancelled_then_resumed () : int)));
    test "a cancelled fiber does not wait at all" (main already_cancelled);
    test "10,000 cancelled fibers leave no memory" (main bulk);
  ]

let threads =
  [
    test "run_in_systhread" (main systhread);
    test "a thread of a spawned domain that runs Eio" thread_of_a_spawned_domain;
    test "plain, in Eio, plain again, in a thread, in Fifo"
      after_the_loop_has_ended;
  ]

let suites =
  [ ("waiting", waiting); ("cancellation", cancellation); ("threads", threads) ]
