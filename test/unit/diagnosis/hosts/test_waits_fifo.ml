open Concord
open Concord.Tools
open Concord_test_support
open Check
open Basic_hosts
open Kept

let holder_names (wait : Debug.wait) =
  List.concat_map (fun p -> p.Debug.holders) wait.targets
  |> List.map (fun h -> h.Debug.by.name)

let the_wait pause is_it =
  eventually ~pause "the wait" (fun () -> List.exists is_it (waits ()));
  List.find is_it (waits ())

let waits_by operation (wait : Debug.wait) = operations wait = [ operation ]

let joined () =
  Concord_fifo.run (fun () ->
      let box = Mvar.create_empty () in
      let task = Concord_fifo.fork (fun () -> Mvar.take box) in
      let waiting = Concord_fifo.fork (fun () -> Concord_fifo.join task) in
      let pause = Concord_fifo.yield in
      let wait = the_wait pause (waits_by "Promise.await") in
      let taker = the_wait pause (waits_by "Mvar.take") in
      strings "the task that is awaited" [ taker.task.name ] (holder_names wait);
      Mvar.put box ();
      Concord_fifo.join waiting);
  int "no task waits" 0 (List.length (waits ()))

let fork_promise () =
  Concord_fifo.run (fun () ->
      let box = Mvar.create_empty () in
      let promise = Concord_fifo.fork_promise (fun () -> Mvar.take box) in
      let waiting = Concord_fifo.fork (fun () -> Promise.await promise) in
      let pause = Concord_fifo.yield in
      let wait = the_wait pause (waits_by "Promise.await") in
      let taker = the_wait pause (waits_by "Mvar.take") in
      strings "the task that is awaited" [ taker.task.name ] (holder_names wait);
      Mvar.put box ();
      Concord_fifo.join waiting)

(* The scope's owner waits for both of its tasks, but not for a daemon. *)
let scope () =
  Concord_fifo.run (fun () ->
      let a = Mvar.create_empty () and b = Mvar.create_empty () in
      let owner =
        Concord_fifo.fork (fun () ->
            Concord_fifo.Scope.run (fun _ ->
                ignore (Concord_fifo.fork (fun () -> Mvar.take a));
                ignore (Concord_fifo.fork (fun () -> Mvar.take b));
                ignore
                  (Concord_fifo.fork_daemon (fun () ->
                       while true do
                         Concord_fifo.yield ()
                       done))))
      in
      let pause = Concord_fifo.yield in
      let wait = the_wait pause (waits_by "Concord_fifo.Scope.run") in
      int "the task that is awaited" 2 (List.length (holder_names wait));
      Mvar.put a ();
      eventually ~pause "one of them has ended" (fun () ->
          let wait = the_wait pause (waits_by "Concord_fifo.Scope.run") in
          List.length (holder_names wait) = 1);
      Mvar.put b ();
      Concord_fifo.join owner);
  int "no task waits" 0 (List.length (waits ()))

(* Another domain asks for reports meanwhile. *)
let scopes_while_asked () =
  let has_ended = Atomic.make false and reports = Atomic.make 0 in
  let ask () =
    while not (Atomic.get has_ended) do
      ignore (waits () : Debug.wait list);
      Atomic.incr reports
    done
  in
  let other = Partner.lasting_domain () in
  Partner.ask other ask;
  Concord_fifo.run (fun () ->
      let box = Mvar.create_empty () in
      let waits = Concord_fifo.fork (fun () -> Mvar.take box) in
      (* Reports look for holders only if a task waits, so make one wait. *)
      let pause = Concord_fifo.yield in
      ignore (the_wait pause (waits_by "Mvar.take") : Debug.wait);
      let before = Atomic.get reports in
      eventually ~pause "reports" (fun () ->
          for _ = 1 to 10 do
            Concord_fifo.Scope.run (fun _ ->
                ignore (Concord_fifo.fork Concord_fifo.yield);
                ignore (Concord_fifo.fork_daemon Concord_fifo.yield))
          done;
          Atomic.get reports > before + 10);
      Mvar.put box ();
      Concord_fifo.join waits);
  Atomic.set has_ended true;
  Partner.join other;
  int "no task waits" 0 (List.length (waits ()))

(* The task that opened the scope holds a mutex for which a task of the scope waits. *)
let cycle_over_scope () =
  Concord_fifo.run (fun () ->
      let mutex = Mutex.create () in
      let owner =
        Concord_fifo.fork (fun () ->
            try
              Mutex.protect mutex (fun () ->
                  Concord_fifo.Scope.run (fun _ ->
                      ignore (Concord_fifo.fork (fun () -> Mutex.lock mutex))))
            with Concord_fifo.Cancelled -> ())
      in
      let tasks = observer Concord_fifo.yield in
      until tasks "a cycle" (fun () -> List.length (cycles ()) = 1);
      int "two of them" 2 (List.length (List.hd (cycles ())));
      yes "one waits for its tasks"
        (List.exists (waits_by "Concord_fifo.Scope.run") (List.hd (cycles ())));
      Concord_fifo.cancel owner;
      Concord_fifo.join owner);
  int "no task waits" 0 (List.length (waits ()))

(* A resumed task counts as ready while its loop is busy. *)
let resumed () =
  Concord_fifo.run (fun () ->
      let mvar = Mvar.create_empty () in
      let name = named mvar in
      let task = Concord_fifo.fork (fun () -> Mvar.take mvar) in
      let tasks = observer Concord_fifo.yield in
      ignore (the_one tasks name : Debug.wait);
      let before = List.length (Concord__diagnosis.Waits.resumed ()) in
      Mvar.put mvar ();
      int "it does not wait" 0 (List.length (waits_in name));
      int "it is ready" (before + 1)
        (List.length (Concord__diagnosis.Waits.resumed ()));
      int "so the report says" (before + 1)
        (List.length (Debug.report ()).woken);
      Concord_fifo.join task;
      int "it has continued" before
        (List.length (Concord__diagnosis.Waits.resumed ())))

(* A sleeping loop isn't another task. The report shows it as the place where the thread
   waits. *)
let loops () =
  let ready = Promise.create () and box = Mvar.create_empty () in
  let join =
    Check.thread (fun () ->
        Concord_fifo.run (fun () ->
            ignore (Concord_fifo.fork (fun () -> Promise.fill ready ()));
            Mvar.take box))
  in
  Promise.await ready;
  let tasks = observer Thread.yield in
  until tasks "one waits" (fun () ->
      List.exists (waits_by "Mvar.take") (waits ()));
  until tasks "the loop sleeps" (fun () ->
      List.exists (waits_by "Concord_fifo.run") (waits ()));
  strings "the task, and where its thread is" [ ""; "fifo" ]
    (List.sort String.compare
       (List.map (fun (w : Debug.wait) -> w.task.host) (waits ())));
  Mvar.put box ();
  join ()

let () =
  run "waits, Fifo and threads"
    [
      cases fifo;
      cases threads;
      ("domains", snd (cases domains));
      cases Style_hosts.delimited;
      cases Style_hosts.callcc;
      cases Style_hosts.threads;
      ( "joins of Fifo",
        [
          test "join" joined;
          test "fork_promise" fork_promise;
          test "Scope.run" scope;
          test "scopes, while another domain asks" scopes_while_asked;
          test "a cycle over a scope" cycle_over_scope;
        ] );
      ( "over",
        [
          test "cancelled" (cancelled fifo);
          test "resumed" resumed;
          test "loops that sleep" loops;
        ] );
      ( "two locks",
        [
          test "two tasks" (locks_of_tasks fifo);
          test "a task and a thread" (locks_of_two_hosts fifo threads);
        ] );
    ]
