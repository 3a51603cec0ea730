(* Daemons of [Concord_fifo]. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom
exception Bang

let[@inline never] culprit () = if true then raise Boom
let task f = ignore (Fifo.fork f : Fifo.handle)
let daemon f = ignore (Fifo.fork_daemon f : Fifo.handle)
let never () : unit = Event.sync Event.never
let counting unwound f = Fun.protect ~finally:(fun () -> incr unwound) f

(* Calls [f] in a run and in a scope, with eager and with lazy cancellation. *)
let everywhere f () =
  Fifo.run f;
  Fifo.run ~cancellation:`Lazy f;
  Fifo.run (fun () -> Fifo.Scope.run (fun _ -> f ()));
  Fifo.run ~cancellation:`Lazy (fun () -> Concord.Scope.run (fun _ -> f ()))

(* --- Daemons --------------------------------------------------------------- *)

let ends_with_the_others () =
  let unwound = ref 0 and worked = ref 0 in
  let waits () = counting unwound never in
  let body () =
    daemon waits;
    task (fun () ->
        for _ = 1 to 5 do
          Fifo.yield ();
          int "not yet" 0 !unwound;
          incr worked
        done);
    daemon waits;
    7
  in
  let check name run =
    unwound := 0;
    worked := 0;
    int name 7 (run body);
    int "the task has ended" 5 !worked;
    int "unwound" 2 !unwound
  in
  check "run" Fifo.run;
  check "lazy" (fun f -> Fifo.run ~cancellation:`Lazy f);
  check "scope" (fun f -> Fifo.run (fun () -> Fifo.Scope.run (fun _ -> f ())));
  check "Concord.Scope" (fun f ->
      Fifo.run (fun () -> Concord.Scope.run (fun _ -> f ())));
  check "in a daemon's own scope" (fun f ->
      Fifo.run (fun () ->
          let v = ref 0 in
          let d =
            Fifo.fork_daemon (fun () -> v := Fifo.Scope.run (fun _ -> f ()))
          in
          Fifo.join d;
          !v))

let only_daemons =
  everywhere (fun () ->
      for _ = 1 to 3 do
        daemon never
      done)

let ends_by_itself =
  everywhere (fun () ->
      let d = Fifo.fork_daemon Fifo.yield in
      daemon ignore;
      Fifo.join d;
      daemon Fifo.yield)

let fails () =
  raises "run" Boom (fun () ->
      Fifo.run (fun () ->
          daemon (fun () ->
              Fifo.yield ();
              culprit ());
          never ()));
  raises_at "culprit" (fun () -> Fifo.run (fun () -> daemon culprit));
  raises "scope" Boom (fun () ->
      Fifo.run (fun () ->
          Fifo.Scope.run (fun _ ->
              daemon culprit;
              never ())));
  raises "while it is unwound" Boom (fun () ->
      Fifo.run (fun () ->
          daemon (fun () -> try never () with _ -> culprit ())));
  Fifo.run (fun () ->
      let d =
        Fifo.fork_daemon (fun () ->
            Fifo.yield ();
            culprit ())
      in
      raises "joined" Boom (fun () -> Fifo.join d))

let main_fails () =
  let unwound = ref 0 in
  raises "the first task" Boom (fun () ->
      Fifo.run (fun () ->
          daemon (fun () -> counting unwound never);
          culprit ()));
  raises "a task" Boom (fun () ->
      Fifo.run (fun () ->
          daemon (fun () -> counting unwound never);
          task (fun () ->
              Fifo.yield ();
              culprit ())));
  int "unwound" 2 !unwound

(* The tasks that a daemon forks are like other tasks, even those that it forks while it
   unwinds. *)
let forks () =
  let steps = ref [] in
  let say step = steps := step :: !steps in
  Fifo.run (fun () ->
      daemon (fun () ->
          task (fun () ->
              Fifo.yield ();
              Fifo.yield ();
              say "its task");
          try never ()
          with e ->
            say "unwound";
            Fifo.protect (fun () ->
                daemon (fun () ->
                    Fun.protect never ~finally:(fun () ->
                        say "a daemon, too late"));
                task (fun () ->
                    Fifo.yield ();
                    say "a task, too late"));
            raise e));
  strings "steps"
    [ "its task"; "unwound"; "a daemon, too late"; "a task, too late" ]
    (List.rev !steps)

let cancelled () =
  let unwound = ref 0 in
  Fifo.run (fun () ->
      let d = Fifo.fork_daemon (fun () -> counting unwound never) in
      Fifo.cancel d;
      Fifo.join d;
      int "by hand" 1 !unwound;
      let owner =
        Fifo.fork (fun () ->
            Fifo.Scope.run (fun _ ->
                daemon (fun () -> counting unwound never);
                never ()))
      in
      Fifo.cancel owner;
      Fifo.join owner;
      int "with its scope" 2 !unwound)

(* The end of an inner scope must not end the daemons of the outer one. *)
let of_its_scope () =
  Fifo.run (fun () ->
      let ended = ref false in
      daemon (fun () -> Fun.protect never ~finally:(fun () -> ended := true));
      Fifo.Scope.run (fun _ -> daemon never);
      Fifo.yield ();
      no "not yet" !ended)

let many () =
  let n = if instrumented then 300 else 10_000 in
  let unwound = ref 0 in
  Fifo.run (fun () ->
      for _ = 1 to n do
        daemon (fun () -> counting unwound never);
        task Fifo.yield
      done);
  int "unwound" n !unwound

let serves_others () =
  let requests = Mailbox.create () and served = Atomic.make 0 in
  let d =
    domain (fun () ->
        Fifo.run (fun () ->
            daemon (fun () ->
                while true do
                  Promise.fill (Mailbox.take requests) ();
                  Atomic.incr served
                done);
            let stop = Promise.create () in
            Mailbox.add requests stop;
            Promise.await stop))
  in
  d ();
  int "served" 1 (Atomic.get served)

(* Wherever a signal handler raises, [run] must end and leave no daemon behind. *)
let interrupted () =
  let count = ref 0 and all = ref [] in
  let waits () =
    let runs = ref false in
    all := runs :: !all;
    match
      runs := true;
      for _ = 1 to 20 do
        Fifo.yield ()
      done;
      never ()
    with
    | () -> runs := false
    | exception e ->
        runs := false;
        raise e
  in
  let body () =
    daemon waits;
    task (fun () ->
        for _ = 1 to 30 do
          Fifo.yield ()
        done);
    Fifo.Scope.run (fun _ ->
        daemon waits;
        task (fun () ->
            for _ = 1 to 10 do
              Fifo.yield ()
            done));
    daemon waits
  in
  let until = Unix.gettimeofday () +. 0.5 in
  while Unix.gettimeofday () < until || !count < 50 do
    (try
       Interrupting.run ~by:Bang ~count (fun () ->
           try Fifo.run body with Fifo.Cancelled -> ())
     with Bang -> ());
    no "left behind" (List.exists ( ! ) !all);
    all := []
  done

let () =
  run "Fifo, daemons"
    [
      ( "daemons",
        [
          test "they end with the others" ends_with_the_others;
          test "only daemons" only_daemons;
          test "one ends by itself" ends_by_itself;
          test "one fails" fails;
          test "the others fail" main_fails;
          test "one forks" forks;
          test "one is cancelled" cancelled;
          test "daemons of a scope" of_its_scope;
          test "many" many;
          test "on another domain" serves_others;
        ]
        @ Interrupting.only (test "a signal handler raises" interrupted) );
    ]
