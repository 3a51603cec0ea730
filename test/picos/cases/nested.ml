(* Schedulers inside the tasks of others, in every order, including those of Picos. *)

open Concord
open Nested_cases
open Concord_test_support.Check

(* The fiber waits for a fiber beside it. *)
let wait () =
  let p = Promise.create () in
  Schedulers.all_of
    [ (fun () -> Promise.fill p ()); (fun () -> Promise.await p) ]

let picos =
  {
    name = "Picos";
    run =
      (fun f -> (Schedulers.registered Schedulers.fifo).run (fun () -> f ~wait));
  }

let guest =
  {
    name = "as_fiber";
    run = (fun f -> Concord_picos.as_fiber (fun () -> f ~wait));
  }

let suites =
  [
    ( "nested in every order",
      [
        test "with Picos"
          (in_every_order [ picos; eio; fifo ] 3 (fun f -> f ()));
        test "with as_fiber"
          (in_every_order [ guest; picos; eio ] 3 (fun f -> f ()));
        test "all"
          (in_every_order [ picos; guest; eio; fifo; pool ] 2 (fun f -> f ()));
        test "all, in a domain"
          (in_every_order [ picos; guest; eio; fifo; pool ] 2 in_domain);
        test "all, in a fiber of Picos"
          (in_every_order [ guest; eio; fifo; pool ] 2 (fun f ->
               Schedulers.fifo.run f));
      ] );
  ]
