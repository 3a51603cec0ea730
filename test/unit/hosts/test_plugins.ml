(* Plug-ins of schedulers that don't register themselves. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check
open Plugin_cases

module A =
  Foreign.Make
    (struct
      let name = "a"
      let takes_every_effect = false
    end)
    ()

module B =
  Foreign.Make
    (struct
      let name = "b"
      let takes_every_effect = false
    end)
    ()

let both_at_once () =
  let box = Mvar.create_empty () and sum = ref 0 in
  let put () =
    for i = 1 to 200 do
      Mvar.put box i
    done
  and take () =
    for _ = 1 to 200 do
      sum := !sum + Mvar.take box
    done
  in
  let domain = Domain.spawn (fun () -> B.run put) in
  A.run take;
  Domain.join domain;
  int "sum" 20_100 !sum

(* The scheduler doesn't run this thread, so its plug-in raises [Elsewhere]. *)
let a_thread_beside () =
  A.run_registered @@ fun () ->
  in_thread waits;
  in_thread (fun () -> B.run waits);
  waits ()

let users_of_domain_local_await () =
  traced [ "a waits"; "b releases"; "a released" ] @@ fun say ->
  A.run_registered @@ fun () ->
  let t = Domain_local_await.prepare_for_await () in
  let first () =
    say "a waits";
    t.await ();
    say "a released"
  and second () =
    say "b releases";
    t.release ();
    t.release ()
  in
  A.all [ first; second ]

let unregistered_again () =
  A.run_registered waits;
  waits ();
  let t = Domain_local_await.prepare_for_await () in
  beside t.release t.await

let hosts =
  host "a" A.run_registered ~all:A.all
  :: host "b" B.run_registered ~all:B.all
  :: known_hosts

(* A handler that isn't registered is found inside each host. *)
let handler_within =
  let within { name; place; _ } =
    test ("a handler in " ^ name) (fun () ->
        place (fun () ->
            mini waits;
            waits ()))
  in
  List.map within hosts

let outermost =
  let within { name; place; _ } =
    test (name ^ " in a, which is not registered") (fun () ->
        A.run (fun () ->
            place waits;
            waits ()))
  in
  List.map within hosts

let () =
  run "Plug-ins"
    [
      ("reaching a", Reach_cases.(place "a" suspends A.run));
      ( "reaching b in Fifo",
        Reach_cases.(
          place "b" suspends (fun f -> fifo (fun () -> B.run_registered f))) );
      ( "tasks of b",
        [
          test "cancelled" (Reach_cases.cancelled B.cancelling);
          test "siblings" (fun () -> B.run (siblings B.all));
          test "with the other one" both_at_once;
          test "a thread beside" a_thread_beside;
          test "users of Domain_local_await" users_of_domain_local_await;
          test "no longer registered" unregistered_again;
        ] );
      Lazy_policies.suite "Lazy in b" B.cancelling;
      ("Lazy in b, undefined", Lazy_undefined.within B.run);
      ( "Lazy in b, tasks",
        Lazy_undefined.among (fun fs -> B.run (fun () -> B.all fs)) );
      ("nested", nested hosts);
      ("a handler within", handler_within);
      ("outermost", outermost);
    ]
