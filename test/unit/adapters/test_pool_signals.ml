(* Concord_domainslib.with_pool while signal handlers raise. *)

open Concord
open Concord_test_support
open Check
module Pool = Domainslib.Task
open Concord_domainslib

exception Tick

let this_thread () = Thread.id (Thread.self ())
let mask () = List.sort compare (Thread.sigmask SIG_BLOCK [])

(* Code in the pool has the caller's signal mask, and the caller keeps its mask. *)
let masks () =
  let check num_domains =
    let before = mask () in
    with_pool ~num_domains (fun pool ->
        let jobs = List.init 50 (fun _ -> mask) in
        let is_it seen = seen = before in
        yes "jobs" (List.for_all is_it (Promise.await (submit_all pool jobs)));
        let task = Pool.run pool (fun () -> Pool.async pool mask) in
        yes "tasks" (is_it (Pool.run pool (fun () -> Pool.await pool task)));
        yes "the function" (is_it (mask ())));
    yes "the caller" (mask () = before)
  in
  check 1;
  check 3;
  let before = Thread.sigmask SIG_BLOCK [ Sys.sigusr2 ] in
  check 2;
  yes "it is still blocked" (List.mem Sys.sigusr2 (mask ()));
  ignore (Thread.sigmask SIG_SETMASK before : int list)

let for_a_while f =
  let until = Unix.gettimeofday () +. 2. in
  while Unix.gettimeofday () < until do
    f ()
  done

(* The handler raises in the thread that owns the pool. *)
let other_threads () =
  let this = this_thread () in
  let in_thread () = Domain.is_main_domain () && this_thread () <> this in
  for_a_while (fun () ->
      Interrupting.others ~by:Tick ~in_thread (fun () ->
          int "value" 1
            (with_pool ~num_domains:1 (fun pool -> run pool (fun () -> 1)))))

let () =
  Check.run "Pools: signal handlers"
    [
      ( "with_pool",
        [
          test "masks" masks;
          test "a handler raises in other threads" other_threads;
        ] );
    ]
