(* The requirements for every host, in code in direct style. [Wakers] has those of operations for
   Async's own style. *)

open Concord_test_support.Check
open Concord_test_hosts

let direct f =
  Async.Thread_safe.block_on_async_exn (fun () -> Concord_async.direct f)

let all_in_async fs =
  Async.Thread_safe.block_on_async_exn (fun () ->
      Async.Deferred.all_unit (List.map Concord_async.direct fs))

let both_in_async f g = all_in_async [ f; g ]

(* Async can't cancel, but a scope can. *)
let cancel f ~after =
  Concord.Scope.run @@ fun scope ->
  Concord.Scope.fork scope f;
  after ();
  Concord.Scope.cancel scope

let host =
  {
    Test_host.name = "direct";
    reported = "async";
    run =
      (fun body ->
        Async.Thread_safe.block_on_async_exn @@ fun () ->
        let all = ref [] in
        let fork f = all := Concord_async.direct f :: !all in
        let body () = body { fork; pause = Concord.Tasks.yield } in
        Async.Deferred.bind (Concord_async.direct body) ~f:(fun () ->
            Async.Deferred.all_unit !all));
    cancel = Some cancel;
  }

let suites =
  [
    Wait_cases.on host;
    Tasks_cases.everywhere ("scopes in direct", direct);
    ("reached", Reach_cases.(place "direct" suspends direct));
    ("lazy, undefined", Lazy_undefined.within direct);
    ("lazy, among tasks", Lazy_undefined.among all_in_async);
    ( "beside a scope",
      [ test "direct" (Tasks_cases.beside_others both_in_async) ] );
  ]
