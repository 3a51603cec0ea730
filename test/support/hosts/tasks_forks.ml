(* Scopes: which tasks may fork into one, and promises of tasks. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Tasks_kit

(* --- Promises ------------------------------------------------------------- *)

let promises () =
  let open Scope in
  int "value" 3
    (run (fun s ->
         let one = fork_promise s (fun () -> 1)
         and two =
           fork_promise s (fun () ->
               Tasks.yield ();
               2)
         in
         Promise.await one + Promise.await two));
  int "a failure does not fail the scope" 4
    (run (fun s ->
         let p = fork_promise s explode in
         Tasks.yield ();
         raises "promise" Boom (fun () -> Promise.await p);
         raises_at "explode" (fun () -> Promise.await p);
         4));
  let outlives = ref None in
  run (fun s ->
      outlives := Some (fork_promise s never);
      cancel s);
  raises "cancelled" Cancelled (fun () -> Promise.await (Option.get !outlives))

(* --- Who forks ------------------------------------------------------------ *)

let fork_from_within () =
  traced [ "inner ends"; "task of the outer one"; "outer ends" ] @@ fun say ->
  Scope.run (fun outer ->
      let gate = Promise.create () in
      Scope.run (fun inner ->
          Scope.fork inner (fun () ->
              Scope.fork outer (fun () ->
                  Promise.await gate;
                  say "task of the outer one")));
      say "inner ends";
      Promise.fill gate ());
  say "outer ends"

(* The failure belongs to the scope of the task, not to the scope of the task that forked it. *)
let fails_in_its_scope () =
  let caught = ref false in
  raises "the outer one's" Boom (fun () ->
      Scope.run (fun outer ->
          let gate = Promise.create () in
          (try
             Scope.run (fun _ ->
                 Scope.fork outer (fun () ->
                     Promise.await gate;
                     explode ()))
           with _ -> caught := true);
          Promise.fill gate ();
          never ()));
  no "not the inner one's" !caught

let tasks_fork () =
  let count = ref 0 in
  Scope.run (fun scope ->
      let rec tree depth () =
        incr count;
        if depth > 0 then begin
          Scope.fork scope (tree (depth - 1));
          Tasks.yield ();
          Scope.fork scope (tree (depth - 1))
        end
      in
      tree 6 ());
  int "tasks" 127 !count

let forks_too_late () =
  let scope = Scope.run Fun.id in
  let called = ref false in
  let f () = called := true in
  refused "the end" (fun () -> Scope.fork scope f);
  refused "a promise" (fun () ->
      ignore (Scope.fork_promise scope f : unit Promise.t));
  refused "in another scope" (fun () -> Scope.run (fun _ -> Scope.fork scope f));
  no "called" !called

let others_fork () =
  let called = ref false in
  let f () = called := true in
  Scope.run (fun scope ->
      refused "a thread" (fun () -> in_thread (fun () -> Scope.fork scope f));
      refused "a domain" (fun () -> in_domain (fun () -> Scope.fork scope f));
      refused "a scheduler in a thread" (fun () ->
          in_thread (fun () -> Concord_fifo.run (fun () -> Scope.fork scope f)));
      Tasks.yield ());
  no "called" !called;
  (* A scheduler inside the scope's task either is refused, or counts as the task that runs it. *)
  let taken = ref false in
  Scope.run (fun scope ->
      Mini.run
        [
          (fun () ->
            Concord_fifo.run (fun () ->
                match Scope.fork scope f with
                | () -> taken := true
                | exception Invalid_argument _ -> ()));
        ]);
  yes "called if it was not refused" (!called = !taken);
  called := false;
  (* This is a sibling of the task that opened the scope. *)
  let opened = Promise.create () and tried = Promise.create () in
  ignore
    (Tasks.both
       (fun () ->
         Scope.run (fun scope ->
             Promise.fill opened scope;
             Promise.await tried))
       (fun () ->
         let scope = Promise.await opened in
         refused "a sibling" (fun () -> Scope.fork scope f);
         Promise.fill tried ())
      : unit * unit);
  no "called by a sibling" !called;
  (* This is a task of the outer scope that a task in the inner scope forked. *)
  Scope.run (fun outer ->
      Scope.run (fun inner ->
          let tried = Promise.create () in
          Scope.fork outer (fun () ->
              refused "from outside" (fun () -> Scope.fork inner f);
              Promise.fill tried ());
          Promise.await tried));
  no "called from outside" !called

(* Either the task begins, or [fork] raises. *)
let forks_when_cancelled () =
  let promise = ref None in
  Scope.run (fun scope ->
      Scope.cancel scope;
      Suspend.protect (fun () ->
          match Scope.fork_promise scope ignore with
          | p -> promise := Some p
          | exception _ -> ()));
  yes "resolved, or not forked"
    (Option.fold ~none:true ~some:Promise.is_resolved !promise)
