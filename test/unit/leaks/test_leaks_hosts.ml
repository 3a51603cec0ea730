(* Of tasks of Eio and Domainslib. *)

open Concord
open Concord_test_support
open Check
open Lost
module Pool = Domainslib.Task

let in_fiber wait =
  Eio_main.run (fun _ ->
      let was_told = ref false in
      Eio.Fiber.both
        (fun () -> was_told := told wait)
        (fun () -> collect_until was_told Eio.Fiber.yield);
      !was_told)

(* A pool resumes what was resumed from outside of it when it has nothing else to do: so
   the turn leaves it nothing. *)
let in_pool num_domains wait =
  let pool = Pool.setup_pool ~num_domains () in
  Fun.protect
    ~finally:(fun () -> Pool.teardown_pool pool)
    (fun () ->
      Pool.run pool (fun () ->
          let was_told = ref false and begun = Promise.create () in
          let task =
            Pool.async pool (fun () ->
                Promise.fill begun ();
                was_told := told wait)
          in
          (* The pool starts the latest task first. *)
          Promise.await begun;
          let turn () = Event.sync (Event.timeout 0.001) in
          collect_until was_told turn;
          Pool.await pool task;
          !was_told))

let fiber_is_cancelled () =
  Eio_main.run (fun _ ->
      let never = Promise.create () in
      Eio.Fiber.first
        (fun () -> Promise.await never)
        (fun () ->
          Gc.full_major ();
          Eio.Fiber.yield ());
      int "it is gone" 0 (Promise.waiters never))

let fibers_wait () =
  Eio_main.run (fun _ ->
      let box = Mvar.create_empty () in
      Eio.Fiber.both
        (fun () -> int "taken" 1 (Mvar.take box))
        (fun () ->
          Gc.full_major ();
          Eio.Fiber.yield ();
          Mvar.put box 1))

let () =
  restart ();
  run "CONCORD_DEBUG=leaks, other hosts"
    [
      ( "found",
        [
          test "a fiber of Eio" (found `Both in_fiber);
          test "a task of Domainslib" (found `Both (in_pool 0));
          test "a task of Domainslib, two domains" (found `Both (in_pool 1));
        ] );
      ( "nothing to be found",
        [
          test "a fiber is cancelled" (nothing fiber_is_cancelled);
          test "fibers will be resumed" (nothing fibers_wait);
        ] );
    ]
