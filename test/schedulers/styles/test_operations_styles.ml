(* Operations that need not wait, and those that may wait, in threads of each style and in tasks of
   each policy. *)

open Concord
open Concord_test_support
open Concord_test_hosts

(* Threads of the style [threads] run at any time. *)
let in_style (host : Test_host.t) =
  Ready_cases.on ~cooperative:(host != Style_hosts.threads) host

let policy name run =
  {
    Test_host.name;
    reported = "";
    run =
      (fun body ->
        run (fun () ->
            Scope.run (fun scope ->
                body { fork = Scope.fork scope; pause = Tasks.yield })));
    cancel =
      Some
        (fun f ~after ->
          Scope.run (fun scope ->
              Scope.fork scope f;
              after ();
              Scope.cancel scope));
  }

let policies =
  let open Concord_policies in
  [
    policy "Fifo" (fun f -> Fifo.run f);
    policy "Lifo" (fun f -> Lifo.run f);
    policy "Levels" (fun f -> Levels.run f);
    policy "Deadline" (fun f -> Deadline.run f);
  ]

(* Lifo's tasks run in the reverse order. *)
let waits (host : Test_host.t) =
  let in_turn = host != Style_hosts.threads && host.name <> "Lifo" in
  Wait_cases.on ~in_turn host

let () =
  Check.run "Operations, in styles and policies"
    (List.map in_style Style_hosts.all
    @ List.map Ready_cases.on policies
    @ List.map waits (Style_hosts.all @ policies))
