(* Lost tasks of Eio, Domainslib, workers and Lwt. *)

open Concord
open Concord.Tools
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

(* A pool runs tasks that were resumed from outside only if it has nothing else to do. So a
   turn has to leave the pool idle. *)
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

let in_job wait =
  Workers.with_workers ~domains:1 @@ fun w ->
  let was_told = ref false in
  let job = Workers.submit w (fun () -> was_told := told wait) in
  collect_until was_told (fun () -> Unix.sleepf 0.001);
  Promise.await job;
  !was_told

(* From the result of a chain of promises, Lwt can reach the promise that the chain waits
   for, in order to cancel it. So the program must not keep the result. *)
let raise_never () = raise Suspend.Never_resumed

let in_lwt start wait =
  Concord_lwt.run (fun () ->
      let was_told = ref false in
      start (fun () -> was_told := told wait);
      let rec turn () =
        (try raise Exit with Exit -> ());
        Gc.full_major ();
        if !was_told then Lwt.return true else Lwt.bind (Lwt.pause ()) turn
      in
      Lwt_unix.with_timeout 20. turn)

let lwt_direct f = Lwt.async (fun () -> Concord_lwt.direct f)
let lwt_direct's f = Lwt.async (fun () -> Lwt_direct.spawn f)

let[@inline never] takes_in_vain () =
  Sys.opaque_identity
    (Concord_lwt.Mvar.take (Mvar.create_empty () : unit Mvar.t))

let in_callbacks () =
  let was_told, report =
    with_report ~reports:1 (fun () ->
        in_lwt
          (fun note ->
            Lwt.async (fun () ->
                Lwt.catch takes_in_vain (function
                  | Suspend.Never_resumed ->
                      note ();
                      Lwt.return_unit
                  | e -> Lwt.fail e)))
          raise_never)
  in
  yes "the task got the exception" was_told;
  int "reports" 1 (count report gone);
  yes "the report shows the caller" (contains report "takes_in_vain")

(* The task waits for a promise that only Lwt refers to, but that will be resolved. *)
let lwt_goes_on () =
  Concord_lwt.run (fun () ->
      let box = Mvar.create_empty () in
      let taken = Concord_lwt.Mvar.take box in
      let later = Concord_lwt.direct (fun () -> Mvar.take box) in
      Lwt.bind (Lwt.pause ()) (fun () ->
          Gc.full_major ();
          Mvar.put box 1;
          Mvar.put box 2;
          Lwt.bind taken (fun v ->
              int "taken" 1 v;
              Lwt.map (int "taken" 2) later)))

let fiber_is_cancelled () =
  Eio_main.run (fun _ ->
      let never = Promise.create () in
      Eio.Fiber.first
        (fun () -> Promise.await never)
        (fun () ->
          Gc.full_major ();
          Eio.Fiber.yield ());
      int "it was withdrawn" 0 (Promise.waiters never))

let fibers_wait () =
  Eio_main.run (fun _ ->
      let box = Mvar.create_empty () in
      Eio.Fiber.both
        (fun () -> int "taken" 1 (Mvar.take box))
        (fun () ->
          Gc.full_major ();
          Eio.Fiber.yield ();
          Mvar.put box 1))

(* The porter of each pool waits for jobs until the pool is torn down, and must not be
   reported. When the first pool is made, its thread is the only other one. *)
let pools_end () =
  for _ = 1 to 10 do
    Attached_pools.with_pool (fun pool ->
        int "run" 1 (Concord_domainslib.run pool (fun () -> 1)));
    Gc.full_major ()
  done

(* Idle workers wait for jobs, and must not be reported either. *)
let workers_end () =
  for _ = 1 to 10 do
    Workers.with_workers ~domains:1 (fun w ->
        int "run" 1 (Workers.run w (fun () -> 1));
        Gc.full_major ();
        int "yields" 2
          (Workers.run w (fun () ->
               Tasks.yield ();
               2)))
  done

let () =
  restart ();
  run "CONCORD_DEBUG=leaks, other hosts"
    [
      ( "found",
        [
          test "a fiber of Eio" (found `Both in_fiber);
          test "Concord_lwt.direct" (found `Both (in_lwt lwt_direct));
          test "Lwt_direct" (found `Both (in_lwt lwt_direct's));
          test "an operation of Concord_lwt" in_callbacks;
          test "a task of Domainslib" (found `Both (in_pool 0));
          test "a task of Domainslib, two domains" (found `Both (in_pool 1));
          test "a job of workers" (found `Both in_job);
        ] );
      ( "nothing to be found",
        [
          test "a fiber is cancelled" (nothing fiber_is_cancelled);
          test "fibers will be resumed" (nothing fibers_wait);
          test "Lwt continues" (nothing lwt_goes_on);
          test "pools end" (nothing pools_end);
          test "workers end" (nothing workers_end);
        ] );
    ]
