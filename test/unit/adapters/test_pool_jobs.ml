(* Concord_domainslib: many jobs with one result. *)

open Pools
open Concord
open Concord_test_support
open Check
module Pool = Domainslib.Task
module Fifo = Concord_fifo
open Concord_domainslib

(* --- Many jobs ------------------------------------------------------------- *)

let all_results () =
  with_pool ~num_domains:2 @@ fun pool ->
  let all n = Promise.await (submit_all pool (List.init n (fun i () -> i))) in
  List.iter (fun n -> yes "in order" (all n = List.init n Fun.id)) [ 0; 1; 99 ]

let all_from place () =
  with_pool ~num_domains:1 @@ fun pool ->
  place @@ fun () ->
  let jobs = [ (fun () -> 1); (fun () -> 2) ] in
  yes "value" (Promise.await (submit_all pool jobs) = [ 1; 2 ])

(* The parts wait for one another, so all of them must have started. *)
let all_at_once () =
  with_pool ~num_domains:1 @@ fun pool ->
  let box = Mvar.create_empty () in
  let put () = Mvar.put box () and take () = Mvar.take box in
  let jobs = submit_all pool [ take; put; put; take ] in
  int "units" 4 (List.length (Promise.await jobs))

let all_fails () =
  with_pool ~num_domains:1 @@ fun pool ->
  let gate = Promise.create () and waits = Promise.create () in
  let ended = Atomic.make false in
  let slow () =
    Promise.fill waits ();
    Promise.await gate;
    Atomic.set ended true
  and failing () =
    Printexc.record_backtrace true;
    Promise.await waits;
    culprit ()
  in
  let jobs = submit_all pool [ slow; failing ] in
  Promise.await waits;
  settle pool;
  no "not before all have ended" (Promise.is_resolved jobs);
  Promise.fill gate ();
  raises "await" Boom (fun () -> Promise.await jobs);
  yes "the other has ended" (Atomic.get ended);
  raises_at "culprit" (fun () -> Promise.await jobs)

(* With one domain the parts run one after the other, in any order. *)
let all_stops () =
  with_pool ~num_domains:1 @@ fun pool ->
  let ran = Atomic.make 0 in
  let fail () =
    Atomic.incr ran;
    raise Boom
  in
  let jobs = submit_all pool (List.init 20 (fun _ -> fail)) in
  raises "await" Boom (fun () -> Promise.await jobs);
  int "the others never start" 1 (Atomic.get ran)

let loop () =
  with_pool ~num_domains:2 @@ fun pool ->
  let check ?chunk_size start finish =
    let calls = Array.init 101 (fun _ -> Atomic.make 0) in
    let body i = Atomic.incr calls.(i) in
    Promise.await (parallel_for ?chunk_size pool ~start ~finish body);
    let once i n = Atomic.get n = 1 = (start <= i && i <= finish) in
    yes "each once" (Array.for_all Fun.id (Array.mapi once calls))
  in
  check 0 100;
  check ~chunk_size:1 3 50;
  check 7 7;
  check 5 4

let loop_fails () =
  with_pool ~num_domains:1 @@ fun pool ->
  let ran = Atomic.make 0 in
  let body _ =
    Atomic.incr ran;
    Printexc.record_backtrace true;
    culprit ()
  in
  let job = parallel_for ~chunk_size:1 pool ~start:1 ~finish:50 body in
  raises "await" Boom (fun () -> Promise.await job);
  raises_at "culprit" (fun () -> Promise.await job);
  int "no further call" 1 (Atomic.get ran)

(* Domainslib's own loop doesn't wait for the other half after an exception. *)
let loop_fails_late () =
  with_pool ~num_domains:1 @@ fun pool ->
  let gate = Promise.create () and waits = Promise.create () in
  let body = function
    | 0 ->
        Promise.fill waits ();
        Promise.await gate
    | _ ->
        Promise.await waits;
        raise Boom
  in
  let job = parallel_for ~chunk_size:1 pool ~start:0 ~finish:1 body in
  Promise.await waits;
  settle pool;
  no "not before all have ended" (Promise.is_resolved job);
  Promise.fill gate ();
  raises "await" Boom (fun () -> Promise.await job)

(* --- Tasks of a job, and of threads that it starts ------------------------------ *)

(* A job runs a scheduler of the library in its task. Meanwhile a thread that it started, on
   the same domain, runs one too. Afterwards the job still waits as a task of the pool. *)
let tasks_beside inner outer () =
  with_pool ~num_domains:1 @@ fun pool ->
  for _ = 1 to 2 do
    let job =
      submit pool @@ fun () ->
      let go = Promise.create () in
      let threads = ref [] in
      outer (fun () ->
          let has_begun = Atomic.make false in
          let in_thread () =
            inner (fun () ->
                Atomic.set has_begun true;
                Promise.await go)
          in
          threads := Promise.in_thread in_thread :: !threads;
          eventually "the thread has begun" (fun () -> Atomic.get has_begun));
      (* Another job, on the same domain, resumes this one. *)
      let turn = Promise.create () in
      let other = submit pool (fun () -> Promise.fill turn ()) in
      Promise.await turn;
      Promise.await other;
      Promise.fill go 42;
      List.iter (fun t -> int "the thread" 42 (Promise.await t)) !threads
    in
    Promise.await job
  done

type runs = { run : 'a. (unit -> 'a) -> 'a }

let tasks_cases =
  let timeout = { run = (fun f -> Option.get (Tasks.with_timeout 60. f)) }
  and scope = { run = (fun f -> Scope.run (fun _ -> f ())) }
  and fifo = { run = (fun f -> Fifo.run f) } in
  let all =
    [ ("a timeout", timeout); ("a scope", scope); ("Concord_fifo", fifo) ]
  in
  let case (outer_name, outer) (inner_name, inner) =
    test
      (Printf.sprintf "%s, and %s in a thread" outer_name inner_name)
      (tasks_beside inner.run outer.run)
  in
  List.concat_map (fun outer -> List.map (case outer) all) all

let () =
  Printexc.record_backtrace true;
  Check.run "Pools: many jobs"
    [
      ( "many",
        [
          test "submit_all: results" all_results;
          test "submit_all: from a thread" (all_from in_thread);
          test "submit_all: from a domain" (all_from in_domain);
          test "submit_all: from an Eio fiber" (all_from eio);
          test "submit_all: all at once" all_at_once;
          test "submit_all: ends when all have ended" all_fails;
          test "submit_all: the others never start" all_stops;
          test "parallel_for" loop;
          test "parallel_for: fails" loop_fails;
          test "parallel_for: ends when all have ended" loop_fails_late;
        ] );
      ("a job that runs", tasks_cases);
    ]
