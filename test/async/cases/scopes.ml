(* Scopes, [both], [all] and [yield] in code in direct style. *)

open Concord_test_support.Check
open Concord_test_hosts

let direct f =
  Async.Thread_safe.block_on_async_exn (fun () -> Concord_async.direct f)

let both_in_async f g =
  Async.Thread_safe.block_on_async_exn (fun () ->
      let first = Concord_async.direct f in
      let second = Concord_async.direct g in
      Async.Deferred.all_unit [ first; second ])

let suites =
  [
    Tasks_cases.everywhere ("scopes in direct", direct);
    ( "beside a scope",
      [ test "direct" (Tasks_cases.beside_others both_in_async) ] );
  ]
