(* Scopes, [both], [all] and [yield]: the same cases on every host. *)

open Concord
open Concord_test_support
open Check

exception Boom
exception Bang

let[@inline never] explode () = if true then raise Boom
let never () = Event.sync Event.never

(* [f ()], counting that it was unwound. *)
let counting unwound f = Fun.protect ~finally:(fun () -> incr unwound) f

let refused what f =
  match f () with
  | () -> Alcotest.failf "%s: nothing was raised" what
  | exception Invalid_argument text ->
      yes (what ^ ": it says where") (contains text "Scope.fork")

(* --- Values, order -------------------------------------------------------- *)

let values () =
  yes "both" (both (fun () -> 1) (fun () -> "a") = (1, "a"));
  yes "none" (all [] = ([] : int list));
  yes "one" (all [ (fun () -> 1) ] = [ 1 ]);
  yes "three" (all (List.init 3 (fun i () -> i)) = [ 0; 1; 2 ]);
  int "scope" 7 (Scope.run (fun _ -> 7))

let begin_in_order () =
  traced [ "0"; "1"; "2"; "3" ] @@ fun say ->
  ignore (all (List.init 4 (fun i () -> say (string_of_int i))) : unit list)

let tasks_meet () =
  let numbers = Mvar.create_empty () and squares = Mvar.create_empty () in
  let sum =
    Scope.run @@ fun scope ->
    Scope.fork scope (fun () ->
        for i = 1 to 20 do
          Mvar.put numbers i
        done);
    Scope.fork scope (fun () ->
        for _ = 1 to 20 do
          let i = Mvar.take numbers in
          Mvar.put squares (i * i)
        done);
    List.fold_left ( + ) 0 (List.init 20 (fun _ -> Mvar.take squares))
  in
  int "sum" 2870 sum;
  let box = Mvar.create_empty () in
  yes "both meet"
    (both (fun () -> Mvar.take box) (fun () -> Mvar.put box 1) = (1, ()));
  yes "the other way round"
    (both (fun () -> Mvar.put box 1) (fun () -> Mvar.take box) = ((), 1))

let ends_last () =
  let ended = ref 0 and gate = Promise.create () in
  Scope.run (fun scope ->
      for _ = 1 to 3 do
        Scope.fork scope (fun () ->
            Promise.await gate;
            yield ();
            incr ended)
      done;
      Scope.fork scope (fun () -> Promise.fill gate ()));
  int "all have ended" 3 !ended

(* Each waits for a step of the other, without a structure. *)
let yields () =
  let turn = ref 0 in
  let player me () =
    for _ = 1 to 5 do
      while !turn mod 2 <> me do
        yield ()
      done;
      incr turn
    done
  in
  ignore (both (player 0) (player 1) : unit * unit);
  int "turns" 10 !turn;
  yield ()

(* Tasks that always have something to do wait for a task beside the scope. [at_once]
   runs two functions in tasks of one host. *)
let beside_others at_once () =
  let flag = Atomic.make false in
  let wait () =
    while not (Atomic.get flag) do
      yield ()
    done
  in
  let set () = Atomic.set flag true in
  at_once (fun () -> ignore (both wait wait : unit * unit)) set;
  Atomic.set flag false;
  at_once wait set

(* --- Failures ------------------------------------------------------------- *)

let first_fails () =
  let unwound = ref 0 in
  let waits () = counting unwound never in
  raises "the first of both" Boom (fun () -> both explode waits);
  raises "the last of both" Boom (fun () -> both waits explode);
  raises "the first of all" Boom (fun () -> all [ explode; waits; waits ]);
  raises "one of all" Boom (fun () -> all [ waits; explode; waits ]);
  raises "the last of all" Boom (fun () -> all [ waits; waits; explode ]);
  (* What begins after a failure is unwound where it waits, or does not begin. *)
  yes "unwound" (!unwound >= 4);
  raises_at "explode" (fun () -> both explode waits);
  raises_at "explode" (fun () -> both waits explode)

let both_fail () =
  let gate = Promise.create () in
  let wait_and e () =
    Promise.await gate;
    raise e
  in
  raises "the first failure" Boom (fun () ->
      all [ wait_and Boom; wait_and Bang; (fun () -> Promise.fill gate ()) ]);
  raises "another one, while it is unwound" Boom (fun () ->
      both (fun () -> Fun.protect never ~finally:(fun () -> ())) explode);
  raises "what comes after is dropped" Boom (fun () ->
      both (fun () -> try never () with _ -> raise Bang) explode)

let body_fails () =
  let unwound = ref 0 and slow = ref false in
  raises "body" Boom (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope (fun () -> counting unwound never);
          Scope.fork scope (fun () ->
              try never ()
              with e ->
                Suspend.protect (fun () -> yield ());
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
              yield ();
              explode ());
          counting unwound never));
  int "the body is unwound" 1 !unwound;
  raises "although the body returns" Boom (fun () ->
      Scope.run (fun scope -> Scope.fork scope explode))

let in_a_scope_within () =
  raises "the inner one's" Boom (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope never;
          ignore (both explode never : unit * unit)));
  let v =
    Scope.run (fun _ ->
        try
          fst
            (both
               (fun () ->
                 explode ();
                 1)
               never)
        with Boom -> 2)
  in
  int "the outer one goes on" 2 v

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
         yield ();
         1))

let cancel_raises () =
  let unwound = ref 0 in
  raises "the body waited" Scope.Cancelled (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope (fun () ->
              yield ();
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

(* --- Promises ------------------------------------------------------------- *)

let promises () =
  let open Scope in
  int "value" 3
    (run (fun s ->
         let one = fork_promise s (fun () -> 1)
         and two =
           fork_promise s (fun () ->
               yield ();
               2)
         in
         Promise.await one + Promise.await two));
  int "a failure is no failure of the scope" 4
    (run (fun s ->
         let p = fork_promise s explode in
         yield ();
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

(* The failure belongs to the scope of the task. *)
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
          yield ();
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
      yield ());
  no "called" !called;
  (* A scheduler inside is refused, or counts as the task that runs it. *)
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
  (* A sibling of the task that opened it. *)
  let opened = Promise.create () and tried = Promise.create () in
  ignore
    (both
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
  (* A task of the outer scope, which one in the inner scope forked. *)
  Scope.run (fun outer ->
      Scope.run (fun inner ->
          let tried = Promise.create () in
          Scope.fork outer (fun () ->
              refused "from outside" (fun () -> Scope.fork inner f);
              Promise.fill tried ());
          Promise.await tried));
  no "called from outside" !called

(* The task begins, or [fork] says that it does not. *)
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

(* --- Many ----------------------------------------------------------------- *)

let many () =
  let n = 10_000 in
  let gate = Promise.create () in
  let task i () =
    if i = n - 1 then Promise.fill gate ();
    Promise.await gate;
    i
  in
  yes "values" (all (List.init n task) = List.init n Fun.id);
  let unwound = ref 0 in
  let task i () = if i = n - 1 then explode () else counting unwound never in
  raises "one of many" Boom (fun () -> all (List.init n task));
  int "all are unwound" (n - 1) !unwound

let deep () =
  let rec depth n =
    if n = 0 then 0
    else
      let a, () = both (fun () -> depth (n - 1)) yield in
      a + 1
  in
  int "depth" 1000 (depth 1000);
  let rec fail n () =
    if n = 0 then explode ()
    else ignore (both (fail (n - 1)) never : unit * unit)
  in
  raises "from the depth" Boom (fail 1000);
  let rec bodies n =
    if n = 0 then explode () else Scope.run (fun _ -> bodies (n - 1))
  in
  raises "in one task" Boom (fun () -> bodies 1000)

let protected_ () =
  Suspend.protect (fun () ->
      values ();
      tasks_meet ();
      first_fails ())

(* --- Signal handlers ------------------------------------------------------ *)

(* At any moment. Whatever it interrupts, no task is left behind, and what comes out is
   what the handler raised; or [Cancelled], if that was the scheduler around, which
   then cancels its tasks and raises it itself. *)
let interrupted ?(around = Bang) place () =
  let count = ref 0 and left_behind = ref 0 and others = ref [] in
  let promises = ref [] and unresolved = ref 0 in
  let work () =
    let over = ref false in
    let task () =
      for _ = 1 to 50 do
        if !over then incr left_behind;
        yield ()
      done
    in
    let run scope =
      for i = 1 to 5 do
        Scope.fork scope task;
        let p = Scope.fork_promise scope (if i > 2 then ignore else task) in
        promises := p :: !promises
      done;
      task ()
    in
    match Scope.run run with
    | () -> over := true
    | exception e ->
        over := true;
        if e <> Bang && e <> around then
          others := Printexc.to_string e :: !others;
        raise e
  in
  let until = Unix.gettimeofday () +. 0.5 in
  while Unix.gettimeofday () < until || !count < 50 do
    try Interrupting.run ~by:Bang ~count (fun () -> place work)
    with Bang -> ()
  done;
  List.iter
    (fun p -> if not (Promise.is_resolved p) then incr unresolved)
    !promises;
  int "promises that were not resolved" 0 !unresolved;
  int "left behind" 0 !left_behind;
  strings "other exceptions" [] !others

let interrupts =
  [
    test "a thread" (interrupted (fun f -> f ()));
    test "Fifo"
      (interrupted ~around:Concord_fifo.Cancelled (fun f -> Concord_fifo.run f));
    test "Fifo, lazy"
      (interrupted ~around:Concord_fifo.Cancelled (fun f ->
           Concord_fifo.run ~cancellation:`Lazy f));
  ]

(* --- Cancelled from outside ----------------------------------------------- *)

(* [work waits unwound] waits for ever, with tasks that call [waits] and are unwound. *)
let cancelled (host : Cancelling.host) work () =
  host.run @@ fun () ->
  let begun = ref 0 and unwound = ref 0 and over = ref false in
  let waits () =
    incr begun;
    counting unwound never
  in
  let owner () =
    match work waits with
    | () -> Alcotest.fail "not cancelled"
    | exception e ->
        yes "the host's exception" (host.is_cancellation e);
        int "all were unwound before" 2 !unwound;
        over := true
  in
  let cancel = host.fork owner in
  Cancelling.until host "they wait" (fun () -> !begun = 2);
  cancel ();
  Cancelling.until host "it is over" (fun () -> !over)

let drop f = ignore (f () : unit list)

let cancellations host =
  let test name work = test name (cancelled host work) in
  [
    test "both is cancelled" (fun waits ->
        ignore (both waits waits : unit * unit));
    test "all is cancelled" (fun waits -> drop (fun () -> all [ waits; waits ]));
    test "its body waits" (fun waits ->
        Scope.run (fun scope ->
            Scope.fork scope waits;
            waits ()));
    test "it waits for its tasks" (fun waits ->
        Scope.run (fun scope ->
            Scope.fork scope waits;
            Scope.fork scope waits));
    test "its body waits for a promise" (fun waits ->
        Scope.run (fun scope ->
            let p = Scope.fork_promise scope waits in
            Scope.fork scope waits;
            Promise.await p));
    test "in a scope within" (fun waits ->
        Scope.run (fun outer ->
            Scope.fork outer waits;
            Scope.run (fun inner -> Scope.fork inner waits)));
    test "a body that returns what it can" (fun waits ->
        Scope.run (fun scope ->
            Scope.fork scope waits;
            Scope.fork scope waits;
            try never () with _ -> ()));
  ]

(* The clean-up of a task fails. *)
let fails_when_cancelled (host : Cancelling.host) () =
  host.run @@ fun () ->
  let begun = ref false and seen = ref None in
  let owner () =
    match
      both
        (fun () ->
          begun := true;
          try never () with _ -> explode ())
        never
    with
    | (_ : unit * unit) -> ()
    | exception e -> seen := Some e
  in
  let cancel = host.fork owner in
  Cancelling.until host "it waits" (fun () -> !begun);
  cancel ();
  Cancelling.until host "it is over" (fun () -> Option.is_some !seen);
  yes "the failure" (!seen = Some Boom)

let from_outside name host =
  ( name ^ ", cancelled from outside",
    test "a task fails while it is unwound" (fails_when_cancelled host)
    :: cancellations host )

let cases =
  [
    ("values", values);
    ("they begin in order", begin_in_order);
    ("tasks meet", tasks_meet);
    ("run ends last", ends_last);
    ("yield", yields);
    ("one fails", first_fails);
    ("several fail", both_fail);
    ("the body fails", body_fails);
    ("a task fails, the body waits", task_fails_body_waits);
    ("a failure in a scope within", in_a_scope_within);
    ("cancel, and the body returns", cancel_returns);
    ("cancel, and the body waits", cancel_raises);
    ("promises", promises);
    ("fork from a scope within", fork_from_within);
    ("a failure is its own scope's", fails_in_its_scope);
    ("tasks fork", tasks_fork);
    ("fork after the end", forks_too_late);
    ("others fork", others_fork);
    ("fork in a cancelled scope", forks_when_cancelled);
    ("many tasks", many);
    ("deep nesting", deep);
    ("in protect", protected_);
  ]

(* On a host that answers and cannot cancel, and trusts the library. *)
let not_cancelled () =
  let ended = ref 0 and gate = Promise.create () in
  let waits () =
    Promise.await gate;
    incr ended
  in
  Plain_host.run @@ fun () ->
  raises "the failure, when all have ended" Boom (fun () ->
      all [ waits; explode; waits; (fun () -> Promise.fill gate ()) ]);
  int "all have" 2 !ended;
  int "cancel does nothing" 3
    (Scope.run (fun scope ->
         let p = Promise.create () in
         Scope.fork scope (fun () -> Promise.fill p 3);
         Scope.cancel scope;
         Promise.await p));
  raises "a failure after that" Boom (fun () ->
      Scope.run (fun scope ->
          Scope.cancel scope;
          explode ()))

let cannot_cancel =
  let host (name, case) = test name (fun () -> Plain_host.run case) in
  ( "a host that cannot cancel",
    test "they are not cancelled" not_cancelled
    :: List.map host
         [
           ("values", values);
           ("they begin in order", begin_in_order);
           ("tasks meet", tasks_meet);
           ("run ends last", ends_last);
           ("yield", yields);
           ("fork after the end", forks_too_late);
         ] )

let everywhere (name, place) =
  (name, List.map (fun (name, case) -> test name (fun () -> place case)) cases)

(* --- Places --------------------------------------------------------------- *)

let eio f = Eio_main.run (fun _ -> f ())
let fifo f = Concord_fifo.run f
let lazily f = Concord_fifo.run ~cancellation:`Lazy f
let both_in_eio f g = eio (fun () -> Eio.Fiber.both f g)
let both_in_thread f g = beside g f
let within outer place f = outer (fun () -> place f)

let with_backtraces f () =
  Printexc.record_backtrace true;
  f ()

let places =
  [
    ("thread", in_thread);
    ("domain", fun f -> in_domain (with_backtraces f));
    ("here", fun f -> f ());
    ("Fifo", fifo);
    ("Fifo, lazy", lazily);
    ("Eio", eio);
    ("a handler", fun f -> Mini.run [ f ]);
    ("Fifo in Eio", within eio fifo);
    ("Eio in Fifo", within fifo eio);
    ("Fifo in a handler", within (fun f -> Mini.run [ f ]) fifo);
    ("a handler in Fifo", within fifo (fun f -> Mini.run [ f ]));
  ]
