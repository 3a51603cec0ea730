(* Daemons, the event of joining, bindings, and the functions that [Concord.Tasks] has
   too. *)

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

(* In a run of its own, and in a scope; eager and lazy. *)
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

(* Its tasks are like others; so is what it forks while it is unwound. *)
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

(* A scope within does not end those of the scope around. *)
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
            Mailbox.put requests stop;
            Promise.await stop))
  in
  d ();
  int "served" 1 (Atomic.get served)

(* Whatever a signal handler interrupts, [run] ends, and no daemon is left behind. *)
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

(* --- The event of joining -------------------------------------------------- *)

let join_events () =
  Fifo.run (fun () ->
      let a = Fifo.fork never and b = Fifo.fork Fifo.yield in
      let name h v = Event.wrap (Fifo.join_evt h) (fun () -> v) in
      yes "which" (Event.select [ name a "a"; name b "b" ] = "b");
      yes "again" (Event.poll (Fifo.join_evt b) = Some ());
      yes "not yet" (Event.poll (Fifo.join_evt a) = None);
      yes "timeout" (Event.sync_before 0.001 (Fifo.join_evt a) = None);
      Fifo.cancel a;
      Event.sync (Fifo.join_evt a);
      match Event.sync (Fifo.join_evt (Fifo.self ())) with
      | () -> Alcotest.fail "its own"
      | exception Invalid_argument _ -> ())

let join_event_raises () =
  Fifo.run (fun () ->
      let later =
        Fifo.fork (fun () ->
            Fifo.yield ();
            culprit ())
      in
      raises_at "culprit" (fun () ->
          Event.select [ Fifo.join_evt later; Event.never ]);
      let ended = Fifo.fork culprit in
      raises_at "culprit" (fun () -> Event.sync (Fifo.join_evt ended)));
  (* from another domain *)
  let handle = Mvar.create_empty () in
  let joined =
    domain (fun () ->
        let h = Mvar.read handle in
        match Event.select [ Fifo.join_evt h; Event.never ] with
        | () -> false
        | exception Boom -> true)
  in
  Fifo.run (fun () ->
      let h =
        Fifo.fork (fun () ->
            Tasks.sleep 0.005;
            culprit ())
      in
      Mvar.put handle h;
      eventually ~pause:Fifo.yield "joined elsewhere" (fun () ->
          match Event.poll (Fifo.join_evt h) with
          | Some () -> true
          | None -> false
          | exception Boom -> true));
  yes "joined" (joined ())

(* A choice that takes another alternative in the same moment has not joined. *)
let not_chosen () =
  raises "the failure is not lost" Boom (fun () ->
      Fifo.run (fun () ->
          let gate = Promise.create () in
          let go = Promise.create () in
          let failing =
            Fifo.fork (fun () ->
                Promise.await go;
                culprit ())
          in
          task (fun () ->
              Event.select [ Fifo.join_evt failing; Promise.await_evt gate ]);
          (* The choice is made; its other waiter is still in the queue. *)
          Promise.fill go ();
          Promise.fill gate ();
          Fifo.yield ();
          never ()));
  raises "nor if the chooser is cancelled" Boom (fun () ->
      Fifo.run (fun () ->
          let go = Promise.create () in
          let failing =
            Fifo.fork (fun () ->
                Promise.await go;
                culprit ())
          in
          let chooser =
            Fifo.fork (fun () ->
                Event.select [ Fifo.join_evt failing; Event.never ])
          in
          Promise.fill go ();
          Fifo.cancel chooser;
          Fifo.yield ();
          never ()))

(* --- Bindings -------------------------------------------------------------- *)

let key : int Fifo.key = Fifo.create_key ()
let name : string Fifo.key = Fifo.create_key ()

let binds () =
  Fifo.run (fun () ->
      yes "nothing" (Fifo.get key = None);
      let seen = Mailbox.create () in
      let see () = Mailbox.put seen (Fifo.get key, Fifo.get name) in
      Fifo.with_binding key 1 (fun () ->
          see ();
          Fifo.with_binding name "a" (fun () ->
              see ();
              Fifo.with_binding key 2 see;
              Fifo.without_binding key see;
              task (fun () ->
                  Fifo.yield ();
                  see ());
              daemon see;
              Concord.Scope.run (fun scope -> Concord.Scope.fork scope see));
          Fifo.yield ();
          Fifo.yield ();
          see ());
      see ();
      yes "seen"
        (Mailbox.take_all seen
        = [
            (Some 1, None);
            (Some 1, Some "a");
            (Some 2, Some "a");
            (None, Some "a");
            (Some 1, Some "a");
            (Some 1, Some "a");
            (Some 1, Some "a");
            (Some 1, None);
            (None, None);
          ]))

let of_one_task () =
  Fifo.run (fun () ->
      let before =
        Fifo.fork_promise (fun () ->
            Fifo.yield ();
            Fifo.get key)
      in
      Fifo.with_binding key 1 (fun () ->
          yes "not of those before" (Promise.await before = None);
          let inner =
            Fifo.fork_promise (fun () ->
                Fifo.with_binding key 2 (fun () ->
                    Fifo.yield ();
                    Fifo.get key))
          in
          Fifo.yield ();
          yes "its own" (Fifo.get key = Some 1);
          yes "the child's" (Promise.await inner = Some 2);
          yes "not in another run" (Fifo.run (fun () -> Fifo.get key) = None));
      yes "restored" (Fifo.get key = None);
      raises "after a failure" Boom (fun () -> Fifo.with_binding key 1 culprit);
      yes "restored" (Fifo.get key = None);
      let waits = Fifo.fork (fun () -> Fifo.with_binding key 1 never) in
      Fifo.cancel waits;
      Fifo.join waits;
      (* The next task may have the number of one that has ended. *)
      let next = Fifo.fork_promise (fun () -> Fifo.get key) in
      yes "not of the next" (Promise.await next = None));
  match Fifo.get key with
  | _ -> Alcotest.fail "outside"
  | exception Invalid_argument text -> yes "it says where" (contains text "get")

let many_inherit () =
  Fifo.run (fun () ->
      let before =
        List.init 100 (fun _ ->
            Fifo.fork_promise (fun () ->
                Fifo.yield ();
                Fifo.get key))
      in
      Fifo.with_binding key 3 (fun () ->
          let inside =
            List.init 1_000 (fun i ->
                Fifo.fork_promise (fun () ->
                    Fifo.with_binding name (string_of_int i) (fun () ->
                        Fifo.yield ();
                        (Fifo.get key, Fifo.get name))))
          in
          List.iteri
            (fun i p ->
              yes "inherited"
                (Promise.await p = (Some 3, Some (string_of_int i))))
            inside);
      List.iter (fun p -> yes "none" (Promise.await p = None)) before)

let not_kept () =
  Fifo.run (fun () ->
      let weak = Weak.create 1 in
      let[@inline never] bind () =
        let big : int array Fifo.key = Fifo.create_key () in
        let v = Array.make 1000 0 in
        Weak.set weak 0 (Some v);
        Fifo.with_binding big v (fun () -> Fifo.join (Fifo.fork Fifo.yield))
      in
      bind ();
      Fifo.yield ();
      Gc.full_major ();
      no "it is kept" (Weak.check weak 0))

(* --- As in Tasks ------------------------------------------------------------ *)

let as_in_tasks () =
  Fifo.run (fun () ->
      yes "both" (Fifo.both (fun () -> 1) (fun () -> 2) = (1, 2));
      yes "all" (Fifo.all [ (fun () -> 1) ] = [ 1 ]);
      int "first" 1 (Fifo.first (fun () -> 1) (fun () -> 2));
      int "any" 1 (Fifo.any [ (fun () -> 1); (fun () -> 2) ]);
      Fifo.iter ~max_tasks:2 ignore [ 1; 2; 3 ];
      yes "map" (Fifo.map ~max_tasks:2 succ [ 1; 2; 3 ] = [ 2; 3; 4 ]);
      Fifo.sleep 0.0001;
      yes "with_timeout" (Fifo.with_timeout 0.0001 never = None);
      (* with the tasks that it forks *)
      let unwound = ref 0 in
      yes "its tasks"
        (Fifo.with_timeout 0.001 (fun () ->
             task (fun () -> counting unwound never);
             daemon (fun () -> counting unwound never);
             never ())
        = None);
      int "unwound" 2 !unwound)

let () =
  run "Fifo, every day"
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
          test "those of a scope" of_its_scope;
          test "many" many;
          test "on another domain" serves_others;
          test "a signal handler raises" interrupted;
        ] );
      ( "join_evt",
        [
          test "ends" join_events;
          test "failures" join_event_raises;
          test "not chosen" not_chosen;
        ] );
      ( "bindings",
        [
          test "they are inherited" binds;
          test "of one task" of_one_task;
          test "many tasks" many_inherit;
          test "not kept" not_kept;
        ] );
      ("tasks", [ test "as in Tasks" as_in_tasks ]);
    ]
