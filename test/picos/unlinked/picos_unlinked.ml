(* Fibers of Picos without concord-picos. A wait blocks its thread, but it is still resumed. *)

open Concord
open Concord_test_support.Check

let blocks () =
  Picos_mux_fifo.run @@ fun () ->
  let m = Mvar.create_empty () and went_on = ref false in
  let fiber = Picos.Fiber.create ~forbid:false (Picos.Computation.create ()) in
  Picos.Fiber.spawn fiber (fun _ -> went_on := true);
  let join =
    domain (fun () ->
        eventually "it waits" (fun () -> Mvar.waiters m = 1);
        Mvar.put m 1)
  in
  int "it has the value" 1 (Mvar.take m);
  no "the others have not run" !went_on;
  join ();
  Picos.Fiber.yield ();
  yes "they continue" !went_on

(* Inside the fiber, one of our schedulers is the host. *)
let scheduler_inside () =
  Picos_mux_fifo.run @@ fun () ->
  Concord_fifo.run @@ fun () ->
  let p = Promise.create () in
  let reader = Concord_fifo.fork_promise (fun () -> Promise.await p) in
  Promise.fill p 2;
  int "a task of Fifo" 2 (Promise.await reader)

let run () =
  run "Picos, without concord-picos"
    [
      ( "unlinked",
        [
          test "it blocks its thread" blocks;
          test "a scheduler inside" scheduler_inside;
        ] );
    ]
