open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
module Scope = Fifo.Scope

exception Boom

let[@inline never] culprit () = if true then raise Boom
let task f = ignore (Fifo.fork f : Fifo.handle)

let waiting say name () =
  match Promise.await (Promise.create ()) with
  | () -> ()
  | exception e ->
      say (name ^ " unwound");
      raise e

let waits () =
  traced [ "body ends"; "a ends"; "b ends"; "scope returned 5" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let v =
    Scope.run (fun _ ->
        task (fun () ->
            Fifo.yield ();
            (* A task that a member forks is a member too. *)
            task (fun () ->
                Fifo.yield ();
                Fifo.yield ();
                say "b ends");
            say "a ends");
        say "body ends";
        5)
  in
  say (Printf.sprintf "scope returned %d" v)

let others_go_on () =
  traced [ "scope returned"; "outer ends" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let p = Promise.create () in
  task (fun () ->
      Promise.await p;
      say "outer ends");
  Scope.run (fun _ -> task Fifo.yield);
  say "scope returned";
  Promise.fill p ()

let body_raises () =
  traced [ "a unwound"; "raised" ] @@ fun say ->
  Fifo.run @@ fun () ->
  raises_at "culprit" (fun () ->
      Scope.run (fun _ ->
          task (waiting say "a");
          culprit ()));
  say "raised"

let member_raises () =
  traced [ "body unwound"; "a unwound"; "raised" ] @@ fun say ->
  Fifo.run @@ fun () ->
  raises_at "culprit" (fun () ->
      Scope.run (fun _ ->
          task (waiting say "a");
          task (fun () ->
              Fifo.yield ();
              culprit ());
          waiting say "body" ()));
  say "raised"

let member_is_joined () =
  Fifo.run @@ fun () ->
  Scope.run @@ fun _ ->
  let h =
    Fifo.fork (fun () ->
        Fifo.yield ();
        culprit ())
  in
  raises "join" Boom (fun () -> Fifo.join h)

let failure_of_a_member_after_the_body () =
  Fifo.run @@ fun () ->
  raises_at "culprit" (fun () ->
      Scope.run (fun _ ->
          task (fun () ->
              Fifo.yield ();
              culprit ())))

let cancel_from_inside () =
  traced [ "body unwound"; "a unwound"; "raised" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let outer = Fifo.fork (fun () -> Fifo.yield ()) in
  raises "run" Fifo.Cancelled (fun () ->
      Scope.run (fun scope ->
          task (waiting say "a");
          task (fun () -> Scope.cancel scope);
          waiting say "body" ()));
  say "raised";
  (* The owner itself hasn't been cancelled. *)
  Fifo.yield ();
  Fifo.join outer

let cancel_by_the_body () =
  traced [ "a unwound"; "raised" ] @@ fun say ->
  Fifo.run @@ fun () ->
  raises "run" Fifo.Cancelled (fun () ->
      Scope.run (fun scope ->
          task (waiting say "a");
          Scope.cancel scope));
  say "raised"

let cancel_from place () =
  traced [ "body unwound"; "a unwound" ] @@ fun say ->
  let scopes = Mvar.create_empty () in
  let other = place (fun () -> Scope.cancel (Mvar.take scopes)) in
  Fifo.run (fun () ->
      raises "run" Fifo.Cancelled (fun () ->
          Scope.run (fun scope ->
              task (waiting say "a");
              Mvar.put scopes scope;
              waiting say "body" ()));
      Fifo.yield ());
  other ()

let nested () =
  traced
    [ "inner body unwound"; "inner a unwound"; "inner raised"; "outer b ends" ]
  @@ fun say ->
  Fifo.run @@ fun () ->
  Scope.run @@ fun _ ->
  let p = Promise.create () in
  task (fun () ->
      Promise.await p;
      say "outer b ends");
  raises "inner" Fifo.Cancelled (fun () ->
      Scope.run (fun inner ->
          task (waiting say "inner a");
          task (fun () -> Scope.cancel inner);
          waiting say "inner body" ()));
  say "inner raised";
  Promise.fill p ()

let outer_reaches_inner () =
  traced
    [
      "outer a unwound"; "inner body unwound"; "inner b unwound"; "outer raised";
    ]
  @@ fun say ->
  Fifo.run @@ fun () ->
  raises "outer" Fifo.Cancelled (fun () ->
      Scope.run (fun outer ->
          task (waiting say "outer a");
          task (fun () ->
              Scope.run (fun _ ->
                  task (waiting say "inner b");
                  waiting say "inner body" ()));
          Fifo.yield ();
          Scope.cancel outer));
  say "outer raised"

let owner_cancelled () =
  traced [ "member unwound"; "owner raised" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let owner () =
    match Scope.run (fun _ -> task (waiting say "member")) with
    | () -> say "owner returned"
    | exception Fifo.Cancelled -> say "owner raised"
  in
  let h = Fifo.fork owner in
  Fifo.cancel h;
  Fifo.join h

let owner_interrupted () =
  traced [ "body unwound"; "member unwound"; "owner raised" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let owner () =
    match
      Scope.run (fun _ ->
          task (waiting say "member");
          waiting say "body" ())
    with
    | () -> say "owner returned"
    | exception Fifo.Cancelled -> say "owner raised"
  in
  let h = Fifo.fork owner in
  Fifo.cancel h;
  Fifo.join h

let protected_is_not_reached () =
  traced [ "a unwound"; "member resumed"; "inner returned"; "raised after" ]
  @@ fun say ->
  let p = Promise.create () in
  Fifo.run @@ fun () ->
  raises "outer" Fifo.Cancelled (fun () ->
      Scope.run (fun outer ->
          task (waiting say "a");
          task (fun () ->
              Fifo.protect (fun () ->
                  Scope.run (fun _ ->
                      task (fun () ->
                          Promise.await p;
                          say "member resumed")));
              say "inner returned";
              try Fifo.yield () with Fifo.Cancelled -> say "raised after");
          task (fun () ->
              Fifo.protect (fun () ->
                  Fifo.yield ();
                  Fifo.yield ();
                  Promise.fill p ()));
          Scope.cancel outer))

let body_in_protect () =
  traced [ "member fails"; "protect ends"; "body unwound"; "raised" ]
  @@ fun say ->
  Fifo.run @@ fun () ->
  let gate = Promise.create () in
  let fill () =
    Fifo.protect (fun () ->
        Fifo.yield ();
        Fifo.yield ();
        Promise.fill gate ())
  in
  raises "run" Boom (fun () ->
      Scope.run (fun scope ->
          task fill;
          task (fun () ->
              Fifo.yield ();
              say "member fails";
              Scope.cancel scope;
              culprit ());
          Fifo.protect (fun () ->
              Promise.await gate;
              say "protect ends");
          waiting say "body" ()));
  say "raised"

let fork_into_a_stopped_scope () =
  traced [ "refused" ] @@ fun say ->
  Fifo.run @@ fun () ->
  raises "run" Fifo.Cancelled (fun () ->
      Scope.run (fun scope ->
          Scope.cancel scope;
          match Fifo.fork (fun () -> say "forked") with
          | _ -> say "not refused"
          | exception Fifo.Cancelled -> say "refused"))

let scope_that_ended () =
  Fifo.run @@ fun () ->
  let kept = Scope.run Fun.id in
  Scope.cancel kept;
  Fifo.yield ();
  int "continues" 1
    (Scope.run (fun _ ->
         Fifo.yield ();
         1))

let body_result_of_a_stopped_scope () =
  Fifo.run @@ fun () ->
  raises "run" Fifo.Cancelled (fun () ->
      Scope.run (fun scope ->
          Scope.cancel scope;
          1))

let an_exception_while_unwinding () =
  Fifo.run @@ fun () ->
  let unwinding () =
    try Promise.await (Promise.create ()) with Fifo.Cancelled -> culprit ()
  in
  raises "the member's, not Cancelled" Boom (fun () ->
      Scope.run (fun scope ->
          task unwinding;
          Scope.cancel scope))

let deep () =
  let rec nest n =
    if n > 0 then Scope.run (fun _ -> nest (n - 1)) else Fifo.yield ()
  in
  Fifo.run (fun () -> nest 1000);
  let reached = ref 0 in
  let rec nest n =
    if n > 0 then
      Scope.run (fun _ ->
          try nest (n - 1)
          with Fifo.Cancelled as e ->
            incr reached;
            raise e)
    else Promise.await (Promise.create ())
  in
  Fifo.run (fun () ->
      let h = Fifo.fork (fun () -> nest 1000) in
      Fifo.cancel h);
  int "all were unwound" 1000 !reached

(* Cancelling and unwinding [d] nested scopes of one task must take time proportional to
   [d]. In quadratic time, an eighth of these scopes would take a second. *)
let many_nested ~waiting cancel () =
  let scopes = if instrumented then 400 else 40_000 in
  let rec nest n =
    if n = 0 then Promise.await (Promise.create ())
    else
      Scope.run (fun _ ->
          match nest (n - 1) with
          | () -> ()
          | exception Fifo.Cancelled ->
              if waiting then raises "at each level" Fifo.Cancelled Fifo.yield)
  in
  let start = Unix.gettimeofday () in
  Fifo.run (fun () ->
      raises "the outermost" Fifo.Cancelled (fun () ->
          Scope.run (fun scope ->
              let handle = Fifo.fork (fun () -> nest scopes) in
              cancel scope handle;
              Fifo.join handle;
              Scope.cancel scope)));
  let took = Unix.gettimeofday () -. start in
  if took > 15. then Alcotest.failf "it took %.1f s" took

let () =
  run "Fifo.Scope"
    [
      ( "ends",
        [
          test "it waits for its tasks, and for theirs" waits;
          test "the tasks outside continue" others_go_on;
          test "the body raises: the tasks are cancelled" body_raises;
          test "a task raises: the body and the others are cancelled"
            member_raises;
          test "a task raises after the body" failure_of_a_member_after_the_body;
          test "a task that is joined raises there only" member_is_joined;
          test "an exception while unwinding is not lost"
            an_exception_while_unwinding;
          test "a thousand scopes deep" deep;
          test "many scopes of one task: all at once"
            (many_nested ~waiting:false (fun scope _ -> Scope.cancel scope));
          test "many scopes of one task, which waits in each"
            (many_nested ~waiting:true (fun scope _ -> Scope.cancel scope));
          test "many scopes of one task, by the task"
            (many_nested ~waiting:true (fun _ handle -> Fifo.cancel handle));
        ] );
      ( "cancel",
        [
          test "by a member: the others and the body" cancel_from_inside;
          test "by the body" cancel_by_the_body;
          test "from a thread" (cancel_from thread);
          test "from a domain" (cancel_from domain);
          test "an inner scope: nothing outside" nested;
          test "an outer scope: the inner ones too" outer_reaches_inner;
          test "of the owner that waits for its tasks" owner_cancelled;
          test "of the owner in the body" owner_interrupted;
          test "a scope inside protect is not reached" protected_is_not_reached;
          test "the body is interrupted after its protect" body_in_protect;
          test "no fork into a cancelled scope" fork_into_a_stopped_scope;
          test "the result of a cancelled body is dropped"
            body_result_of_a_stopped_scope;
          test "of a scope that has ended: no effect" scope_that_ended;
        ] );
    ]
