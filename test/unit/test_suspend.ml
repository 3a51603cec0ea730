open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

let[@inline never] culprit () = if true then raise Boom

(* A scheduler of a third party, which knows of Concord the one effect only.
   Nothing here sleeps in a scheduler of others: the loop blocks its thread. *)
module Mini = struct
  open Effect.Deep

  let run tasks =
    let mutex = Stdlib.Mutex.create ()
    and changed = Stdlib.Condition.create () in
    let ready = Queue.create () and live = ref (List.length tasks) in
    let push go_on =
      Stdlib.Mutex.protect mutex (fun () -> Queue.push go_on ready);
      Stdlib.Condition.signal changed
    in
    let suspend (type a) (block : a Suspend.resumer -> a option)
        (k : (a, unit) continuation) =
      let decided = Atomic.make false in
      let decide () = Atomic.compare_and_set decided false true in
      let go_on = function
        | Ok v -> fun () -> continue k v
        | Error e -> fun () -> discontinue k e
      in
      let resumer outcome =
        decide ()
        &&
        (push (go_on outcome);
         true)
      in
      match block resumer with
      | None -> ()
      | Some v -> if decide () then continue k v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          if decide () then discontinue_with_backtrace k e backtrace
    in
    let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option
        =
      match e with
      | Suspend.Suspend block -> Some (fun k -> suspend block k)
      | _ -> None
    in
    let start f =
      match_with f () { retc = (fun () -> decr live); exnc = raise; effc }
    in
    List.iter (fun f -> push (fun () -> start f)) tasks;
    while !live > 0 do
      let next () =
        while Queue.is_empty ready do
          Stdlib.Condition.wait changed mutex
        done;
        Queue.pop ready
      in
      (Stdlib.Mutex.protect mutex next) ()
    done
end

let pool_task f =
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () -> Domainslib.Task.run pool f)

(* --- The contract, in every host ------------------------------------------- *)

let some_v () =
  let calls = ref 0 in
  int "value" 7
    (Suspend.suspend (fun _ ->
         incr calls;
         Some 7));
  int "block was called once" 1 !calls

let block_raises () =
  let calls = ref 0 in
  let f () =
    Suspend.suspend (fun _ ->
        incr calls;
        culprit ();
        None)
  in
  raises "suspend" Boom f;
  int "block was called once" 1 !calls

let resumed_inside_block () =
  let f outcome =
    Suspend.suspend (fun resume ->
        yes "the first resumption" (resume outcome);
        no "the second" (resume (Ok 9));
        None)
  in
  int "value" 8 (f (Ok 8));
  raises "exception" Boom (fun () -> f (Error Boom))

(* Against S1: the resumption that was told [true] keeps its promise. *)
let resumed_and_some () =
  int "the promised value" 1
    (Suspend.suspend (fun resume ->
         yes "resumed" (resume (Ok 1));
         Some 2));
  int "the promised value" 1
    (Suspend.suspend (fun resume ->
         yes "resumed" (resume (Ok 1));
         raise Boom))

let late_resumer () =
  let kept = ref (fun _ -> true) in
  int "value" 1
    (Suspend.suspend (fun resume ->
         kept := resume;
         Some 1));
  no "after Some v" (!kept (Ok 2));
  raises "suspend" Boom (fun () ->
      Suspend.suspend (fun resume ->
          kept := resume;
          raise Boom));
  no "after an exception" (!kept (Ok 2))

(* Two domains call the resumer: one of them wins, and its value arrives. *)
let from_two_domains () =
  let resumers = Mvar.create_empty () in
  let attempt v () = if (Mvar.read resumers) (Ok v) then v else 0 in
  let a = Domain.spawn (attempt 1) and b = Domain.spawn (attempt 2) in
  let calls = ref 0 in
  let v =
    Suspend.suspend (fun resume ->
        incr calls;
        Mvar.put resumers resume;
        None)
  in
  let told_a = Domain.join a and told_b = Domain.join b in
  int "who was told true" v (told_a + told_b);
  int "block was called once" 1 !calls

(* A resumer for each of many waits, called twice from another domain. *)
let many_waits () =
  let n = 500 in
  let resumers = Mvar.create_empty () and told = Atomic.make 0 in
  let domain =
    Domain.spawn (fun () ->
        for i = 1 to n do
          let resume = Mvar.take resumers in
          if resume (Ok i) then Atomic.incr told;
          if resume (Ok 0) then Atomic.incr told
        done)
  in
  for i = 1 to n do
    int "in turn" i
      (Suspend.suspend (fun resume ->
           Mvar.put resumers resume;
           None))
  done;
  Domain.join domain;
  int "once each" n (Atomic.get told)

let protected () =
  int "value" 3 (Suspend.protect (fun () -> Suspend.suspend (fun _ -> Some 3)));
  raises "exception" Boom (fun () -> Suspend.protect culprit)

let contract name place =
  let case what f = test what (fun () -> place f) in
  ( name,
    [
      case "Some v continues with v" some_v;
      case "block raises: the task continues with it" block_raises;
      case "a resumer inside block: true, then false" resumed_inside_block;
      case "a resumer that said true wins over block" resumed_and_some;
      case "a resumer after the end of the wait: false" late_resumer;
      case "two domains resume: one wins" from_two_domains;
      case "500 waits, two resumptions each" many_waits;
      case "protect gives the value, or the exception" protected;
    ] )

let eio f = Eio_main.run (fun _ -> f ())

let keeps_the_backtrace place () =
  place (fun () ->
      raises_at "culprit" (fun () ->
          Suspend.suspend (fun _ ->
              culprit ();
              None)))

(* --- A scheduler of a third party ------------------------------------------- *)

let mini_tasks () =
  traced [ "a waits"; "b puts"; "a took 1" ] @@ fun say ->
  let box = Mvar.create_empty () in
  Mini.run
    [
      (fun () ->
        say "a waits";
        say (Printf.sprintf "a took %d" (Mvar.take box)));
      (fun () ->
        say "b puts";
        Mvar.put box 1);
    ]

let mini_and_others () =
  let box = Mvar.create_empty () and n = 200 in
  let put () =
    for i = 1 to n do
      Mvar.put box i
    done
  in
  let sum = ref 0 in
  let take () =
    for _ = 1 to n do
      sum := !sum + Mvar.take box
    done
  in
  let domain = Domain.spawn (fun () -> Fifo.run put) in
  beside (fun () -> eio put) (fun () -> Mini.run [ take; take ]);
  Domain.join domain;
  int "every value arrives once" (n * (n + 1)) !sum

let mini_in_fifo () =
  traced [ "waits"; "fifo goes on"; "resumed" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let p = Promise.create () in
  let task () =
    Mini.run
      [
        (fun () ->
          say "waits";
          Promise.await p;
          say "resumed");
      ]
  in
  (* Mini blocks its thread: a promise that is filled by another. *)
  let filler =
    Thread.create
      (fun () ->
        eventually "it waits" (fun () -> Promise.waiters p = 1);
        say "fifo goes on";
        Promise.fill p ())
      ()
  in
  task ();
  Thread.join filler

let fifo_in_mini () =
  traced [ "fifo waits"; "mini goes on"; "fifo resumed" ] @@ fun say ->
  let p = Promise.create () in
  Mini.run
    [
      (fun () ->
        Fifo.run (fun () ->
            say "fifo waits";
            Promise.await p;
            say "fifo resumed"));
      (fun () ->
        say "mini goes on";
        Promise.fill p ());
    ]

(* --- Users of Domain_local_await -------------------------------------------- *)

let trigger () =
  traced [ "a waits"; "b releases"; "a released" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let t = Domain_local_await.prepare_for_await () in
  let task () =
    say "a waits";
    t.await ();
    say "a released"
  in
  ignore (Fifo.fork task : Fifo.handle);
  say "b releases";
  t.release ();
  t.release ()

let trigger_released_before () =
  Fifo.run @@ fun () ->
  let t = Domain_local_await.prepare_for_await () in
  t.release ();
  t.await ();
  let t = Domain_local_await.prepare_for_await () in
  beside t.release t.await

let trigger_cancelled () =
  Fifo.run @@ fun () ->
  let t = Domain_local_await.prepare_for_await () in
  let h = Fifo.fork (fun () -> raises "await" Fifo.Cancelled t.await) in
  Fifo.cancel h;
  Fifo.join h;
  t.release ()

(* A signal handler raises when the task is about to be resumed. *)
let trigger_interrupted () =
  let waiting = ref None and interrupt = ref true and ended = ref false in
  let handle (type a) (e : a Effect.t) :
      ((a, unit) Effect.Deep.continuation -> unit) option =
    match e with
    | Suspend.Suspend block ->
        Some
          (fun k ->
            let resumer outcome =
              if !interrupt then begin
                interrupt := false;
                raise Boom
              end;
              Effect.Deep.continue k (Result.get_ok outcome);
              true
            in
            yes "it waits" (block resumer = None))
    | _ -> None
  in
  let task () =
    Suspend.Host.using (Suspend.Host.create ()) @@ fun () ->
    let t = Domain_local_await.prepare_for_await () in
    waiting := Some t;
    t.await ();
    ended := true
  in
  Effect.Deep.try_with task () { effc = handle };
  raises "release" Boom (Option.get !waiting).release;
  yes "it was resumed nevertheless" !ended

let kcas () =
  traced [ "a waits"; "b sets"; "a saw 1" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let loc = Kcas.Loc.make 0 in
  let positive v = if v = 0 then Kcas.Retry.later () else v in
  let task () =
    say "a waits";
    say (Printf.sprintf "a saw %d" (Kcas.Loc.get_as positive loc))
  in
  ignore (Fifo.fork task : Fifo.handle);
  say "b sets";
  Kcas.Loc.set loc 1

let kcas_transaction () =
  let a = Kcas.Loc.make 0 and b = Kcas.Loc.make 0 in
  let both ~xt =
    let v = Kcas.Xt.get ~xt a + Kcas.Xt.get ~xt b in
    if v < 2 then Kcas.Retry.later () else v
  in
  Fifo.run @@ fun () ->
  let sum = Fifo.fork_promise (fun () -> Kcas.Xt.commit { tx = both }) in
  Kcas.Loc.set a 1;
  Fifo.yield ();
  no "it still waits" (Promise.is_resolved sum);
  in_domain (fun () -> Kcas.Loc.set b 1);
  int "sum" 2 (Promise.await sum)

(* --- Threads without scheduler ------------------------------------------------ *)

(* How often Linux has put the thread to sleep; each waking costs one more. *)
let sleeps thread =
  let file = Printf.sprintf "/proc/%s/status" thread in
  let field line =
    match String.split_on_char '\t' line with
    | [ "voluntary_ctxt_switches:"; n ] -> Some (int_of_string n)
    | _ -> None
  in
  In_channel.with_open_bin file In_channel.input_all
  |> String.split_on_char '\n' |> List.find_map field |> Option.get

let wakes_no_other_thread () =
  let idle = 10 and round_trips = 100 in
  let threads = Mailbox.create () and stop = Promise.create () in
  let wait () =
    Mailbox.put threads (Unix.readlink "/proc/thread-self");
    Promise.await stop
  in
  let joins = List.init idle (fun _ -> thread wait) in
  let threads = List.init idle (fun _ -> Mailbox.take threads) in
  eventually "they wait" (fun () -> Promise.waiters stop = idle);
  let before = List.map sleeps threads in
  let there = Mvar.create_empty () and back = Mvar.create_empty () in
  beside
    (fun () ->
      for _ = 1 to round_trips do
        Mvar.put back (Mvar.take there)
      done)
    (fun () ->
      for i = 1 to round_trips do
        Mvar.put there i;
        int "back" i (Mvar.take back)
      done);
  List.iter2
    (fun thread before ->
      let woken = sleeps thread - before in
      (* It may have been on its way. *)
      if woken > round_trips / 10 then
        Alcotest.failf "an idle thread was woken %d times" woken)
    threads before;
  Promise.fill stop ();
  List.iter (fun join -> join ()) joins

(* A signal comes while the thread is blocked; its handler raises when the thread was
   resumed, and waits for the mutex again: it must have that first. *)
let interrupted_in_condition () =
  let here = Thread.id (Thread.self ()) in
  let signal_me () = Unix.kill (Unix.getpid ()) Sys.sigusr1 in
  let handle _ =
    if Thread.id (Thread.self ()) = here then raise Boom else signal_me ()
  in
  let before = Sys.signal Sys.sigusr1 (Signal_handle handle) in
  let mutex = Mutex.create () and condition = Condition.create () in
  let other () =
    ignore (Thread.sigmask SIG_BLOCK [ Sys.sigusr1 ] : int list);
    eventually "it waits" (fun () -> Condition.waiters condition = 1);
    Mutex.lock mutex;
    signal_me ();
    Condition.signal condition;
    eventually "it waits for the mutex" (fun () -> Mutex.waiters mutex = 1);
    Mutex.unlock mutex
  in
  Mutex.lock mutex;
  let domain = Domain.spawn other in
  Condition.wait condition mutex;
  yes "the mutex is locked" (Mutex.is_locked mutex);
  Mutex.unlock mutex;
  raises "the next wait" Boom (fun () -> Promise.await (Promise.create ()));
  Domain.join domain;
  Sys.set_signal Sys.sigusr1 before

let () =
  run "Suspend"
    [
      contract "thread" in_thread;
      contract "domain" in_domain;
      contract "main thread" (fun f -> f ());
      contract "Fifo" (fun f -> Fifo.run f);
      contract "Fifo, lazy" (fun f -> Fifo.run ~cancellation:`Lazy f);
      contract "a third party's" (fun f -> Mini.run [ f ]);
      contract "Eio" eio;
      contract "Eio in a domain" (fun f -> in_domain (fun () -> eio f));
      contract "Domainslib" pool_task;
      contract "Fifo in Eio" (fun f -> eio (fun () -> Fifo.run f));
      contract "Eio in Fifo" (fun f -> Fifo.run (fun () -> eio f));
      ( "backtrace of block",
        [
          test "thread" (keeps_the_backtrace in_thread);
          test "Fifo" (keeps_the_backtrace (fun f -> Fifo.run f));
          test "Domainslib" (keeps_the_backtrace pool_task);
        ] );
      ( "threads",
        [
          test "a signal handler raises in Condition.wait"
            interrupted_in_condition;
        ]
        @
        if Sys.file_exists "/proc/thread-self/status" then
          [ test "waking one wakes no other" wakes_no_other_thread ]
        else [] );
      ( "a third party's scheduler",
        [
          test "its tasks wait for each other" mini_tasks;
          test "and for those of Eio and Fifo" mini_and_others;
          test "in a task of Fifo" mini_in_fifo;
          test "Fifo in a task of it" fifo_in_mini;
        ] );
      ( "Domain_local_await in Fifo",
        [
          test "a trigger suspends the task only" trigger;
          test "a trigger that was released before" trigger_released_before;
          test "a waiting task is cancelled" trigger_cancelled;
          test "a signal handler raises in release" trigger_interrupted;
          test "Kcas.Loc: retry suspends the task only" kcas;
          test "Kcas.Xt: retry suspends the task only" kcas_transaction;
        ] );
    ]
