open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

let[@inline never] culprit () = if true then raise Boom
let[@inline never] second_culprit () = if true then raise Exit
let task f = ignore (Fifo.fork f : Fifo.handle)

(* --- Order ---------------------------------------------------------------- *)

let child_first () =
  traced [ "m1"; "a1"; "b1"; "m2"; "a2"; "b2" ] @@ fun say ->
  Fifo.run @@ fun () ->
  say "m1";
  task (fun () ->
      say "a1";
      task (fun () ->
          say "b1";
          Fifo.yield ();
          say "b2");
      say "a2");
  say "m2"

let yield_order () =
  traced [ "a1"; "b1"; "a2"; "c1"; "b2"; "a3"; "m1"; "c2"; "b3"; "m2"; "c3" ]
  @@ fun say ->
  Fifo.run @@ fun () ->
  let rounds name () =
    say (name ^ "1");
    Fifo.yield ();
    say (name ^ "2");
    Fifo.yield ();
    say (name ^ "3")
  in
  List.iter (fun name -> task (rounds name)) [ "a"; "b"; "c" ];
  say "m1";
  Fifo.yield ();
  say "m2"

let many_tasks () =
  let n = 10_000 in
  let order = ref [] in
  let say i = order := i :: !order in
  Fifo.run (fun () ->
      let p = Promise.create () in
      for i = 1 to n do
        task (fun () ->
            Promise.await p;
            say i;
            Fifo.yield ();
            say (n + 1 + i))
      done;
      Promise.fill p ();
      (* All the tasks became ready before this task, so they run before it does. *)
      Fifo.yield ();
      say (n + 1));
  yes "the order" (List.rev !order = List.init ((2 * n) + 1) succ)

let self () =
  Fifo.run @@ fun () ->
  let main = Fifo.self () in
  let seen = ref main in
  let h =
    Fifo.fork (fun () ->
        Fifo.yield ();
        seen := Fifo.self ())
  in
  yes "not the parent" (h != main);
  Fifo.join h;
  yes "the handle that fork returned" (!seen == h);
  yes "and the parent's is its own" (Fifo.self () == main)

let run_returns_last () =
  traced [ "main ends"; "task ends"; "run returned 7" ] @@ fun say ->
  let v =
    Fifo.run (fun () ->
        task (fun () ->
            Fifo.yield ();
            Fifo.yield ();
            say "task ends");
        say "main ends";
        7)
  in
  say (Printf.sprintf "run returned %d" v)

(* --- Ends ----------------------------------------------------------------- *)

let join_waits () =
  traced [ "joined a"; "a ends"; "joined b" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let a = Fifo.fork ignore in
  Fifo.join a;
  say "joined a";
  let b =
    Fifo.fork (fun () ->
        Fifo.yield ();
        say "a ends")
  in
  Fifo.join b;
  say "joined b"

let join_raises () =
  Fifo.run @@ fun () ->
  let later =
    Fifo.fork (fun () ->
        Fifo.yield ();
        culprit ())
  in
  raises_at "culprit" (fun () -> Fifo.join later);
  let ended = Fifo.fork culprit in
  raises_at "culprit" (fun () -> Fifo.join ended);
  raises "again" Boom (fun () -> Fifo.join ended)

let join_elsewhere () =
  let handle = Mvar.create_empty () and joined = Atomic.make 0 in
  let join () =
    match Fifo.join (Mvar.read handle) with
    | () -> ()
    | exception Boom -> Atomic.incr joined
  in
  let thread = Thread.create join () in
  let domain = Domain.spawn join in
  Fifo.run (fun () ->
      let h =
        Fifo.fork (fun () ->
            Fifo.yield ();
            culprit ())
      in
      Mvar.put handle h;
      raises "join" Boom (fun () -> Fifo.join h));
  Thread.join thread;
  Domain.join domain;
  int "both got the exception" 2 (Atomic.get joined)

(* The failure counts as joined from the moment when the task fails. This must hold even if
   the joining tasks run only after [run] has returned. *)
let joined_by_another_host () =
  let joiner =
    Fifo.run (fun () ->
        let h =
          Fifo.fork (fun () ->
              Fifo.yield ();
              culprit ())
        in
        Hand.start (fun () -> Fifo.join h))
  in
  Hand.settle ();
  raises_at "culprit" (fun () -> Hand.result joiner)

let main_raises () =
  traced [ "the task is unwound" ] @@ fun say ->
  let f () =
    Fifo.run (fun () ->
        task (fun () ->
            try Promise.await (Promise.create ())
            with Fifo.Cancelled -> say "the task is unwound");
        culprit ())
  in
  raises_at "culprit" f

let nobody_joins () =
  traced [ "m ends"; "c ends" ] @@ fun say ->
  let f () =
    Fifo.run (fun () ->
        task culprit;
        task (fun () ->
            Fifo.yield ();
            say "c ends");
        say "m ends")
  in
  raises_at "culprit" f

let failure_while_all_wait () =
  traced [ "m unwound"; "b unwound" ] @@ fun say ->
  let never = Promise.create () in
  let wait name =
    try Promise.await never
    with e ->
      say (name ^ " unwound");
      raise e
  in
  let f () =
    Fifo.run (fun () ->
        task (fun () ->
            Fifo.yield ();
            culprit ());
        task (fun () -> wait "b");
        wait "m")
  in
  raises "run" Boom f;
  int "withdrawn" 0 (Promise.waiters never)

(* --- Failures while a task is always ready ------------------------------------- *)

(* Calls [turn] again and again, and returns how often that was until it raised. *)
let turns_of turn =
  let turns = ref 0 in
  let rec go_on () =
    if !turns < 1_000_000 then begin
      incr turns;
      turn ();
      go_on ()
    end
    else Alcotest.fail "the failure was not seen"
  in
  (go_on, fun () -> !turns)

let is_seen ?(others = 0) ~least ~most prepare turn () =
  let go_on, turns = turns_of turn in
  let f () =
    for _ = 1 to others do
      task (fun () ->
          while true do
            Fifo.yield ()
          done)
    done;
    prepare ();
    go_on ()
  in
  raises_at "culprit" (fun () -> Fifo.run f);
  if turns () < least || turns () > most then
    Alcotest.failf "after %d turns, not after %d to %d" (turns ()) least most

let fork_culprit () = task culprit
let fork_daemon () = ignore (Fifo.fork_daemon culprit : Fifo.handle)

let in_a_scope () =
  Fifo.run (fun () ->
      let go_on, turns = turns_of Fifo.yield in
      raises_at "culprit" (fun () ->
          Fifo.Scope.run (fun _ ->
              fork_culprit ();
              go_on ()));
      if turns () > 512 then Alcotest.failf "after %d turns" (turns ());
      (* the scope alone was cancelled *)
      Fifo.yield ())

(* A failure that a task has joined meanwhile is not raised. *)
let joined_in_time () =
  Fifo.run (fun () ->
      let failing = Fifo.fork culprit in
      for _ = 1 to 200 do
        Fifo.yield ()
      done;
      raises "joined" Boom (fun () -> Fifo.join failing);
      let joiner =
        Fifo.fork (fun () ->
            raises "joined" Boom (fun () -> Fifo.join (Fifo.fork culprit)))
      in
      for _ = 1 to 2_000 do
        Fifo.yield ()
      done;
      Fifo.join joiner)

(* An old failure doesn't make a young one old. *)
let one_after_the_other () =
  Fifo.run (fun () ->
      for _ = 1 to 50 do
        let failing = Fifo.fork culprit in
        for _ = 1 to 100 do
          Fifo.yield ()
        done;
        raises "joined" Boom (fun () -> Fifo.join failing)
      done)

let joined_after_many_forks () =
  Fifo.run (fun () ->
      let fails i = i mod 3 = 0 in
      let fork i = Fifo.fork (fun () -> if fails i then culprit ()) in
      let join i handle =
        if fails i then raises "joined" Boom (fun () -> Fifo.join handle)
        else Fifo.join handle
      in
      List.iteri join (List.init 10_000 fork))

let failure_of_the_first () =
  let f () =
    Fifo.run (fun () ->
        task (fun () ->
            Fifo.yield ();
            culprit ());
        task (fun () ->
            Fifo.yield ();
            second_culprit ()))
  in
  raises "the failure that came first" Boom f

let promise () =
  Fifo.run @@ fun () ->
  let p =
    Fifo.fork_promise (fun () ->
        Fifo.yield ();
        5)
  in
  int "value" 5 (Promise.await p);
  let failing =
    Fifo.fork_promise (fun () ->
        Fifo.yield ();
        culprit ())
  in
  raises_at "culprit" (fun () -> Promise.await failing);
  let cancelled =
    Fifo.fork_promise (fun () ->
        Fifo.cancel (Fifo.self ());
        Fifo.yield ())
  in
  raises "cancelled" Fifo.Cancelled (fun () -> Promise.await cancelled)

let promise_counts_as_joined () =
  let p = Fifo.run (fun () -> Fifo.fork_promise culprit) in
  yes "run returned, and the promise failed" (Promise.peek p = Some (Error Boom))

let nothing_printed () =
  let fail () =
    try
      Fifo.run (fun () ->
          task culprit;
          task (fun () -> Promise.await (Promise.create ())))
    with Boom -> ()
  in
  Alcotest.(check string) "output" "" (printed fail)

let stack_is_constant () =
  (* Switches a million times, and nests forks 100,000 deep. *)
  Fifo.run (fun () ->
      task (fun () ->
          for _ = 1 to 500_000 do
            Fifo.yield ()
          done);
      for _ = 1 to 500_000 do
        Fifo.yield ()
      done);
  let rec chain n = if n > 0 then task (fun () -> chain (n - 1)) in
  Fifo.run (fun () -> chain 100_000)

(* --- Misuse --------------------------------------------------------------- *)

let outside () =
  let check name f =
    raises name
      (Invalid_argument
         ("Concord_fifo." ^ name
        ^ ": the caller is not a task of Concord_fifo.run"))
      f
  in
  let all () =
    check "fork" (fun () -> ignore (Fifo.fork ignore : Fifo.handle));
    check "fork_promise" (fun () -> ignore (Fifo.fork_promise ignore));
    check "yield" Fifo.yield;
    check "self" (fun () -> ignore (Fifo.self () : Fifo.handle));
    check "Scope.run" (fun () -> Fifo.Scope.run ignore)
  in
  all ();
  in_thread all;
  (* A thread that a task starts isn't the task. *)
  Fifo.run (fun () -> in_thread all);
  in_domain all

let join_oneself () =
  raises "join" (Invalid_argument "Concord_fifo.join: a task can't join itself")
    (fun () -> Fifo.run (fun () -> Fifo.join (Fifo.self ())))

let an_inner_unhandled_effect_is_the_users () =
  let module M = struct
    type _ Effect.t += Mine : unit Effect.t
  end in
  let f () = Fifo.run (fun () -> Effect.perform M.Mine) in
  raises "run" (Effect.Unhandled M.Mine) f;
  (* [fork] calls the function at once, but its exception must not reach the caller of
     [fork]. *)
  let f () = Fifo.run (fun () -> task (fun () -> Effect.perform M.Mine)) in
  raises "a task" (Effect.Unhandled M.Mine) f

(* --- Memory --------------------------------------------------------------- *)

let main_raises_joined () =
  raises "run" Boom (fun () ->
      Fifo.run @@ fun () ->
      let main = Fifo.self () in
      task (fun () -> try Fifo.join main with Boom -> ());
      culprit ())

let promise_resolved_by_others () =
  Fifo.run @@ fun () ->
  let ended = ref 0 in
  let gate = Promise.create () in
  let task v () =
    Promise.await gate;
    incr ended;
    v ()
  in
  let promise = Fifo.fork_promise (task (fun () -> 1)) in
  let other = Fifo.fork_promise (task (fun () -> raise Boom)) in
  yes "filled first" (Promise.try_fill promise 2);
  yes "filled first" (Promise.try_fill other 3);
  Promise.fill gate ();
  Fifo.yield ();
  int "both ended" 2 !ended;
  int "and do not matter" 5 (Promise.await promise + Promise.await other)

let value_is_not_kept () =
  Fifo.run @@ fun () ->
  let box = Mvar.create_empty () and seen = Weak.create 1 in
  let[@inline never] take () = Weak.set seen 0 (Some (Mvar.take box)) in
  let waiter =
    Fifo.fork @@ fun () ->
    take ();
    (* The task is still running, so only the scheduler could keep the value alive. *)
    Gc.full_major ();
    no "the value that it waited for is kept" (Weak.check seen 0)
  in
  Mvar.put box (Bytes.create 100);
  Fifo.join waiter

let words_each most wait () =
  if Sys.backend_type = Native && (not debugged) && not instrumented then (
    let n = 10_000 and gate = Promise.create () in
    let live_words () =
      Gc.full_major ();
      (Gc.stat ()).live_words
    in
    Fifo.run @@ fun () ->
    let before = live_words () in
    for _ = 1 to n do
      task (fun () -> wait gate)
    done;
    let words = float_of_int (live_words () - before) /. float_of_int n in
    Promise.fill gate ();
    yes (Printf.sprintf "%.1f words" words) (words < most))

(* A task takes 40 words and its share of the scheduler's arrays, without its stack. In
   bytecode the stack would count too. *)
let words_of_a_task = words_each 45. Promise.await

(* This includes the timeout, its task and its scope. *)
let words_of_a_timeout =
  words_each 200. (fun gate ->
      ignore (Tasks.with_timeout 1000. (fun () -> Promise.await gate)))

let () =
  run "Fifo"
    [
      ( "order",
        [
          test "fork runs the child first, then the other ready tasks"
            child_first;
          test "yield lets every other ready task run" yield_order;
          test "10,000 tasks too" many_tasks;
          test "self is the handle that fork returned" self;
          test "run returns after all tasks have ended" run_returns_last;
          test "the stack does not grow with switches and forks"
            stack_is_constant;
        ] );
      ( "ends",
        [
          test "join waits for the end" join_waits;
          test "join raises what the task raised, with its backtrace"
            join_raises;
          test "a thread and a domain join" join_elsewhere;
          test "a task that waits in another host gets the failure"
            joined_by_another_host;
          test "run raises its function's exception, and cancels the others"
            main_raises;
          test "run raises its function's exception, even if that was joined"
            main_raises_joined;
          test "run raises a failure that was not joined, after the others"
            nobody_joins;
          test "a failure is seen even if everyone waits" failure_while_all_wait;
          test "a failure is seen even if a task is always ready"
            (is_seen ~least:250 ~most:512 fork_culprit Fifo.yield);
          test "even if many are"
            (is_seen ~others:99 ~least:1 ~most:6 fork_culprit Fifo.yield);
          test "even if one always forks"
            (is_seen ~least:60_000 ~most:70_000 fork_culprit (fun () ->
                 task ignore));
          test "that of a daemon"
            (is_seen ~least:250 ~most:512 fork_daemon Fifo.yield);
          test "in a scope, too" in_a_scope;
          test "unless it was joined" joined_in_time;
          test "one failure after the other" one_after_the_other;
          test "after many forks" joined_after_many_forks;
          test "the first of two failures is raised" failure_of_the_first;
          test "fork_promise: value, exception, cancellation" promise;
          test "fork_promise: an exception counts as joined"
            promise_counts_as_joined;
          test "fork_promise: the user may resolve the promise first"
            promise_resolved_by_others;
          test "nothing is printed" nothing_printed;
        ] );
      ( "memory",
        [
          test "the scheduler does not keep a value that it passed on"
            value_is_not_kept;
          test "a task that waits has few words" words_of_a_task;
          test "and so does one with a timeout" words_of_a_timeout;
        ] );
      ( "misuse",
        [
          test "outside of run: Invalid_argument" outside;
          test "a task that joins itself: Invalid_argument" join_oneself;
          test "the user's unhandled effects stay the user's"
            an_inner_unhandled_effect_is_the_users;
        ] );
    ]
