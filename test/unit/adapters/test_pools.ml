(* Concord_domainslib: [with_pool] and [run]. The tests of single jobs are in
   test_domainslib.ml. *)

open Pools
open Concord
open Concord_test_support
open Check
module Pool = Domainslib.Task
module Fifo = Concord_fifo
open Concord_domainslib

(* --- with_pool ------------------------------------------------------------- *)

let ends_from place () =
  place @@ fun () ->
  let caller = here () in
  let elsewhere =
    with_pool ~num_domains:1 (fun pool -> Promise.await (submit pool here))
  in
  no "not on the caller's domain" (elsewhere = caller)

(* [other] runs beside the task that is in [with_pool], on the same domain. *)
let waits_for_jobs both () =
  let gate = Promise.create () and left = Promise.create () in
  let ended = Atomic.make 0 in
  let in_pool () =
    let v =
      with_pool ~num_domains:1 (fun pool ->
          let count () = Atomic.incr ended in
          ignore_job (held pool gate count);
          ignore_job (submit pool count);
          Promise.fill left ();
          7)
    in
    int "both jobs have ended" 2 (Atomic.get ended);
    int "value" 7 v
  and other () =
    Promise.await left;
    (* This takes longer than tearing down a pool. *)
    with_pool ~num_domains:1 settle;
    Promise.fill gate ()
  in
  both in_pool other

let both_fifo f g =
  Fifo.run (fun () ->
      let first = Fifo.fork f in
      g ();
      Fifo.join first)

let both_eio f g = eio (fun () -> Eio.Fiber.both f g)

let f_raises () =
  let gate = Promise.create () and ended = Atomic.make false in
  let filler = ref ignore in
  let fail () =
    with_pool ~num_domains:1 (fun pool ->
        ignore_job (held pool gate (fun () -> Atomic.set ended true));
        filler := thread (fun () -> Promise.fill gate ());
        culprit ())
  in
  (match fail () with
  | () -> failwith "no exception"
  | exception Boom ->
      let backtrace = Printexc.get_backtrace () in
      yes "backtrace" (contains backtrace "culprit"));
  yes "the job has ended" (Atomic.get ended);
  !filler ()

let cancelled () =
  let gate = Promise.create () and ended = Atomic.make false in
  Fifo.run @@ fun () ->
  let entered = Promise.create () in
  let task =
    Fifo.fork (fun () ->
        raises "with_pool" Fifo.Cancelled (fun () ->
            with_pool ~num_domains:1 (fun pool ->
                ignore_job (held pool gate (fun () -> Atomic.set ended true));
                Promise.fill entered ();
                Promise.await (Promise.create ())));
        yes "the job had ended" (Atomic.get ended))
  in
  Promise.await entered;
  Fifo.cancel task;
  (* The task unwinds, and has to wait for the job. *)
  for _ = 1 to 10 do
    Fifo.yield ()
  done;
  no "it continues" (Atomic.get ended);
  Promise.fill gate ();
  Fifo.join task

let cancelled_while_draining () =
  let gate = Promise.create () and ended = Atomic.make false in
  Fifo.run @@ fun () ->
  let left = Promise.create () in
  let task =
    Fifo.fork (fun () ->
        with_pool ~num_domains:1 (fun pool ->
            ignore_job (held pool gate (fun () -> Atomic.set ended true));
            Promise.fill left ());
        yes "the job had ended" (Atomic.get ended);
        raises "afterwards" Fifo.Cancelled Fifo.yield)
  in
  Promise.await left;
  Fifo.yield ();
  Fifo.cancel task;
  Fifo.yield ();
  Promise.fill gate ();
  Fifo.join task

(* The task that called [with_pool] continues on another domain than before. *)
let moves () =
  with_pool ~num_domains:2 @@ fun outer ->
  let entered = Promise.create () and gate = Promise.create () in
  let job =
    submit outer (fun () ->
        with_pool ~num_domains:1 (fun pool ->
            let before = here () in
            Promise.fill entered before;
            Promise.await gate;
            int "runs" 5 (run pool (fun () -> 5));
            before <> here ()))
  in
  let first = Promise.await entered in
  let domain, free = occupy outer in
  let free =
    if domain = first then free
    else begin
      let second, free_first = occupy outer in
      int "the other domain" first second;
      free ();
      free_first
    end
  in
  Promise.fill gate ();
  yes "it has moved" (Promise.await job);
  free ()

let run_of_the_caller () =
  with_pool ~num_domains:1 @@ fun pool ->
  int "Task.run" 3 (Pool.run pool (fun () -> run pool (fun () -> 3)))

let torn_down_by_f () =
  with_pool ~num_domains:1 @@ fun pool ->
  int "runs" 1 (run pool (fun () -> 1));
  Pool.teardown_pool pool

let named () =
  with_pool ~name:"named" ~num_domains:1 @@ fun pool ->
  match Pool.lookup_pool "named" with
  | Some found -> yes "is found" (found == pool)
  | None -> failwith "not found"

let escapes () =
  let pool = with_pool ~num_domains:1 Fun.id in
  raises "submit"
    (Invalid_argument "Concord_domainslib.submit: the pool was torn down")
    (fun () -> submit pool ignore);
  drain pool

(* --- run ------------------------------------------------------------------- *)

let run_exceptions () =
  with_pool ~num_domains:1 @@ fun pool ->
  let job () =
    Printexc.record_backtrace true;
    culprit ()
  in
  raises "run" Boom (fun () -> run pool job);
  raises_at "culprit" (fun () -> run pool job)

let run_cancelled_before () =
  with_pool ~num_domains:1 @@ fun pool ->
  let ran = Atomic.make false in
  let _, free = occupy pool in
  Fifo.run (fun () ->
      let job () = Atomic.set ran true in
      let waiter =
        Fifo.fork (fun () ->
            raises "run" Fifo.Cancelled (fun () -> run pool job))
      in
      Fifo.cancel waiter;
      Fifo.join waiter);
  free ();
  drain pool;
  no "it never runs" (Atomic.get ran)

let run_cancelled_after () =
  with_pool ~num_domains:1 @@ fun pool ->
  let started = Promise.create () and gate = Promise.create () in
  let ended = Atomic.make false in
  Fifo.run (fun () ->
      let job () =
        Promise.fill started ();
        Promise.await gate;
        Atomic.set ended true
      in
      let waiter =
        Fifo.fork (fun () ->
            raises "run" Fifo.Cancelled (fun () -> run pool job))
      in
      Promise.await started;
      Fifo.cancel waiter;
      Fifo.join waiter);
  no "at once" (Atomic.get ended);
  Promise.fill gate ();
  drain pool;
  yes "the job has run to its end" (Atomic.get ended)

let run_in_eio () =
  with_pool ~num_domains:1 @@ fun pool ->
  eio (fun () ->
      let gate = Promise.create () in
      Eio.Fiber.both
        (fun () ->
          int "value" 4
            (run pool (fun () ->
                 Promise.await gate;
                 4)))
        (fun () -> Promise.fill gate ()))

let () =
  Printexc.record_backtrace true;
  Check.run "Pools"
    [
      ( "with_pool",
        [
          test "from the main thread" (ends_from (fun f -> f ()));
          test "from a thread" (ends_from in_thread);
          test "from a domain" (ends_from in_domain);
          test "from an Eio fiber" (ends_from eio);
          test "from a task of Fifo" (ends_from (fun f -> Fifo.run f));
          test "waits for the jobs; a thread"
            (waits_for_jobs (fun f g -> beside g f));
          test "waits for the jobs; Eio" (waits_for_jobs both_eio);
          test "waits for the jobs; Fifo" (waits_for_jobs both_fifo);
          test "f raises" f_raises;
          test "cancelled in f" cancelled;
          test "cancelled when f has returned" cancelled_while_draining;
          test "continues on another domain" moves;
          test "f calls Task.run" run_of_the_caller;
          test "f tears the pool down" torn_down_by_f;
          test "a name" named;
          test "a pool that escapes" escapes;
        ] );
      ( "run",
        [
          test "exceptions" run_exceptions;
          test "cancelled before the start: never runs" run_cancelled_before;
          test "cancelled after the start: at once" run_cancelled_after;
          test "in a fiber" run_in_eio;
        ] );
    ]
