(* Eio fibers and threads beside them. The cases run with concord-eio and without it, where fibers are
   reached through Domain_local_await. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

let main f () = Eio_main.run (fun _ -> f ())

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

(* --- Threads beside a loop of Eio ------------------------------------------ *)

let systhread () =
  let p = Promise.create () in
  Eio.Fiber.both
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

let suites =
  [
    ( "threads",
      [
        test "run_in_systhread" (main systhread);
        test "a thread of a spawned domain that runs Eio"
          thread_of_a_spawned_domain;
        test "plain, in Eio, plain again, in a thread, in Fifo"
          after_the_loop_has_ended;
      ] );
  ]
