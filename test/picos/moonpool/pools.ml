(* Tasks of Moonpool's pools, which handle Picos's effects. *)

open Concord
open Concord_test_support.Check
open Concord_test_hosts
open Picos_cases

let fifo_pool f = Moonpool.Fifo_pool.with_ ~num_threads:2 () f
let ws_pool f = Moonpool.Ws_pool.with_ ~num_threads:2 () f

let pools =
  [
    Schedulers.
      {
        name = "Fifo_pool";
        run = (fun f -> fifo_pool (fun pool -> Moonpool.run_wait_block pool f));
      };
    Schedulers.
      {
        name = "Ws_pool";
        run = (fun f -> ws_pool (fun pool -> Moonpool.run_wait_block pool f));
      };
  ]

let main =
  Schedulers.
    {
      name = "Moonpool.Main";
      run = (fun f -> Moonpool.Main.main (fun _ -> f ()));
    }

(* A task that yields may be the next one of its thread, so it also sleeps. *)
let pause () =
  Picos.Fiber.yield ();
  Tasks.sleep 1e-4

let hosted (s : Schedulers.t) =
  [
    (s.name ^ ", lazy, undefined", Lazy_undefined.within s.run);
    ( s.name ^ ", lazy, among tasks",
      Lazy_undefined.among (fun fs -> s.run (fun () -> Schedulers.all_of fs)) );
    Waiting.on s;
    Hosted.waits ~in_turn:false ~pause s;
  ]

(* With tasks of other hosts. *)
let futures () =
  fifo_pool @@ fun pool ->
  let numbers = Mvar.create_empty () in
  let sum =
    Moonpool.Fut.spawn ~on:pool (fun () ->
        let first = Mvar.take numbers in
        first + Mvar.take numbers)
  in
  Eio_main.run (fun _ ->
      Mvar.put numbers 20;
      Mvar.put numbers 22;
      int "an Eio fiber awaits it" 42
        (Promise.await (Concord_picos.of_computation sum)));
  int "and a fiber of Picos" 42
    (Concord_fifo.run (fun () ->
         Concord_picos.as_fiber (fun () -> Moonpool.Fut.await sum)))

let inside_eio () =
  Eio_main.run @@ fun _ ->
  Concord_picos.using @@ fun () ->
  Moonpool.Main.main @@ fun runner ->
  let m = Mvar.create_empty () in
  let taken = Moonpool.Fut.spawn ~on:runner (fun () -> Mvar.take m) in
  Mvar.put m 1;
  int "taken" 1 (Moonpool.Fut.await taken);
  let m = Mvar.create_empty () in
  let put = Moonpool.Fut.spawn ~on:runner (fun () -> Mvar.put m 2) in
  int "waited for" 2 (Mvar.take m);
  Moonpool.Fut.await put

(* The documentation describes this behaviour. *)
let shut_down with_pool () =
  let m = Mvar.create_empty () in
  with_pool (fun pool ->
      Moonpool.run_async pool (fun () -> ignore (Mvar.take m : int));
      eventually "it waits" (fun () -> Mvar.waiters m = 1));
  (match Mvar.put m 1 with
  | () -> Alcotest.fail "the shutdown was not reported"
  | exception Moonpool.Shutdown -> ());
  int "no task waits" 0 (Mvar.waiters m);
  Mvar.put m 2;
  int "it works" 2 (Mvar.take m)

(* After [Main] has run twice, Moonpool 0.11 makes no further pool, so it comes last. *)
let run () =
  run "Moonpool"
    (List.concat_map hosted pools
    @ [
        ( "pools",
          [
            test "futures" futures;
            test "Fifo_pool is shut down" (shut_down fifo_pool);
            test "Ws_pool is shut down" (shut_down ws_pool);
          ] );
      ]
    @ hosted main
    @ [
        ( "Main",
          [
            test "inside Eio" inside_eio;
            test "a fork of a task that is cancelled"
              (Afterwards.fork_of_cancelled main);
          ] );
      ])
