(* Tasks of pools that yield. *)

open Concord
open Concord_test_support
open Check
module Pool = Domainslib.Task
open Concord_domainslib

(* If the pool served yields with a thread of its own on this domain, each would take 50 ms,
   the time until OCaml switches threads. *)
let many_yields num_domains () =
  let pool = Pool.setup_pool ~num_domains () in
  attach pool;
  Pool.run pool (fun () ->
      for _ = 1 to 2_000 do
        Tasks.yield ()
      done);
  teardown pool

let yields_in_turn () =
  let pool = Pool.setup_pool ~num_domains:0 () in
  attach pool;
  let count = ref 0 in
  let turns () =
    for _ = 1 to 100 do
      incr count;
      Tasks.yield ()
    done
  in
  Pool.run pool (fun () ->
      let other = Pool.async pool turns in
      turns ();
      yes "the other task had its turns" (!count > 150);
      Pool.await pool other);
  teardown pool

(* [drain] must not wait for a task that yields. *)
let drain_beside_yield () =
  let pool = Pool.setup_pool ~num_domains:0 () in
  attach pool;
  traced [ "drained"; "yielded" ] (fun say ->
      Pool.run pool (fun () ->
          Promise.await (submit pool ignore);
          let drains () =
            drain pool;
            say "drained"
          and yields () =
            Tasks.yield ();
            say "yielded"
          in
          (* The pool starts the newest task first. *)
          let tasks = List.map (Pool.async pool) [ drains; yields ] in
          List.iter (Pool.await pool) tasks));
  teardown pool

let () =
  Check.run "Yields in pools"
    [
      ( "yield",
        [
          test "no further domain" (many_yields 0);
          test "one domain" (many_yields 1);
          test "two tasks" yields_in_turn;
          test "drain beside a task that yields" drain_beside_yield;
        ] );
    ]
