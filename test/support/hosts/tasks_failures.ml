(* Scopes, [both] and [all]: failures, and the cancellation of a scope. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Tasks_kit

(* --- Failures ------------------------------------------------------------- *)

let first_fails () =
  let unwound = ref 0 in
  let waits () = counting unwound never in
  raises "the first of both" Boom (fun () -> Tasks.both explode waits);
  raises "the last of both" Boom (fun () -> Tasks.both waits explode);
  raises "the first of all" Boom (fun () -> Tasks.all [ explode; waits; waits ]);
  raises "one of all" Boom (fun () -> Tasks.all [ waits; explode; waits ]);
  raises "the last of all" Boom (fun () -> Tasks.all [ waits; waits; explode ]);
  (* A task that begins after a failure is unwound where it waits. Some tasks don't begin at
     all. *)
  yes "unwound" (!unwound >= 4);
  raises_at "explode" (fun () -> Tasks.both explode waits);
  raises_at "explode" (fun () -> Tasks.both waits explode)

let both_fail () =
  let gate = Promise.create () in
  let wait_and e () =
    Promise.await gate;
    raise e
  in
  raises "the first failure" Boom (fun () ->
      Tasks.all
        [ wait_and Boom; wait_and Bang; (fun () -> Promise.fill gate ()) ]);
  raises "another one, while it is unwound" Boom (fun () ->
      Tasks.both (fun () -> Fun.protect never ~finally:(fun () -> ())) explode);
  raises "what comes after is dropped" Boom (fun () ->
      Tasks.both (fun () -> try never () with _ -> raise Bang) explode)

let body_fails () =
  let unwound = ref 0 and slow = ref false in
  raises "body" Boom (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope (fun () -> counting unwound never);
          Scope.fork scope (fun () ->
              try never ()
              with e ->
                Suspend.protect (fun () -> Tasks.yield ());
                slow := true;
                raise e);
          explode ()));
  int "unwound" 1 !unwound;
  yes "it has waited for the slow one" !slow

let task_fails_body_waits () =
  let unwound = ref 0 in
  raises "task" Boom (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope (fun () ->
              Tasks.yield ();
              explode ());
          counting unwound never));
  int "the body is unwound" 1 !unwound;
  raises "although the body returns" Boom (fun () ->
      Scope.run (fun scope -> Scope.fork scope explode))

let in_a_scope_within () =
  raises "the inner one's" Boom (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope never;
          ignore (Tasks.both explode never : unit * unit)));
  let v =
    Scope.run (fun _ ->
        try
          fst
            (Tasks.both
               (fun () ->
                 explode ();
                 1)
               never)
        with Boom -> 2)
  in
  int "the outer scope continues" 2 v

(* --- Cancelling a scope --------------------------------------------------- *)

let cancel_returns () =
  let unwound = ref 0 in
  int "the body's value" 5
    (Scope.run (fun scope ->
         Scope.fork scope (fun () -> counting unwound never);
         Scope.fork scope (fun () -> counting unwound never);
         Scope.cancel scope;
         Scope.cancel scope;
         5));
  int "unwound" 2 !unwound;
  int "no other scope is" 1
    (Scope.run (fun _ ->
         Scope.run (fun inner -> Scope.cancel inner);
         Tasks.yield ();
         1))

let cancel_raises () =
  let unwound = ref 0 in
  raises "the body waited" Scope.Cancelled (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope (fun () ->
              Tasks.yield ();
              Scope.cancel scope);
          counting unwound never));
  int "unwound" 1 !unwound;
  raises "a failure of the body" Boom (fun () ->
      Scope.run (fun scope ->
          Scope.cancel scope;
          explode ()));
  raises "a failure of a task" Boom (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope (fun () -> try never () with _ -> explode ());
          Scope.cancel scope));
  let scope = Scope.run Fun.id in
  Scope.cancel scope
