(* Faults that races and code reading once found, as deterministic tests. *)

open Concord
open Concord.Tools
open Concord_test_support.Race

let check name right = if not right then fail "%s" name

(* A handle that outlives its task must not cancel another task. *)
let cancel_of_an_ended_task () =
  Concord_fifo.run @@ fun () ->
  let box = Mvar.create_empty () in
  let old = Concord_fifo.fork ignore in
  Concord_fifo.join old;
  let taker = Concord_fifo.fork_promise (fun () -> Mvar.take box) in
  Concord_fifo.cancel old;
  Concord_fifo.yield ();
  Mvar.put box 1;
  match Promise.await taker with
  | v -> check "the other task takes" (v = 1)
  | exception Concord_fifo.Cancelled -> fail "another task was cancelled"

type _ Effect.t += Ask : int -> int Effect.t

(* Tasks that perform effects for a handler around [run], one after the other. *)
let foreign_effects () =
  let ended = ref 0 in
  let ask promise i () =
    Promise.await promise;
    for _ = 1 to 3 do
      check "an answer" (Effect.perform (Ask i) = i + 1)
    done;
    incr ended
  in
  let main () =
    Concord_fifo.run @@ fun () ->
    let promise = Promise.create () in
    for i = 1 to 3 do
      ignore (Concord_fifo.fork (ask promise i) : Concord_fifo.handle)
    done;
    Promise.fill promise ()
  in
  Effect.Deep.try_with main ()
    {
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Ask i ->
              Some
                (fun (k : (a, _) Effect.Deep.continuation) ->
                  Effect.Deep.continue k (i + 1))
          | _ -> None);
    };
  check "all tasks end" (!ended = 3)

(* The task was cancelled lazily, and a resumer has unwound it. When the scheduler is idle, it
   must not cancel the task again in its clean-up. *)
let protected_after_lazy_cancellation () =
  let broken = ref false in
  Concord_fifo.run ~cancellation:`Lazy (fun () ->
      let box = Mvar.create_empty () and clean = Promise.create () in
      let work () =
        try ignore (Mvar.take box : int)
        with Concord_fifo.Cancelled -> (
          Concord_fifo.protect @@ fun () ->
          try Promise.await clean
          with Concord_fifo.Cancelled -> broken := true)
      in
      let task = Concord_fifo.fork work in
      Concord_fifo.cancel task;
      Mvar.put box 1;
      let idle = Promise.create () in
      let filler () =
        Promise.await idle;
        (* By now the loop has been idle twice. *)
        Promise.fill clean ()
      in
      let thread = Thread.create filler () in
      Concord_fifo.yield ();
      Concord_fifo.yield ();
      Promise.fill idle ();
      Concord_fifo.join task;
      Thread.join thread);
  check "protected" (not !broken)

(* A cancellation that arrives inside [block] waits until [block] has returned. *)
let signal_inside_block () =
  let task = ref None in
  let on_signal _ = Option.iter Concord_fifo.cancel !task in
  let before = Sys.signal Sys.sigusr1 (Signal_handle on_signal) in
  let work () =
    task := Some (Concord_fifo.self ());
    Suspend.suspend @@ fun _ ->
    Unix.kill (Unix.getpid ()) Sys.sigusr1;
    Thread.yield ();
    Some 1
  in
  let v = Concord_fifo.(run (fun () -> Promise.await (fork_promise work))) in
  Sys.set_signal Sys.sigusr1 before;
  check "block's value" (v = 1)

type _ Effect.t += Move : unit Effect.t

(* The scheduler continues on another domain, where a foreign loop is started. *)
let foreign_loop_after_moving () =
  let eio () =
    Eio_main.run @@ fun _ ->
    let box = Mvar.create_empty () in
    Eio.Fiber.both
      (fun () -> check "the value" (Mvar.take box = 1))
      (fun () -> Mvar.put box 1)
  in
  let main () =
    Concord_fifo.run @@ fun () ->
    Concord_fifo.yield ();
    Effect.perform Move;
    eio ()
  in
  let on_another_domain k =
    Domain.join (Domain.spawn (fun () -> Effect.Deep.continue k ()))
  in
  Effect.Deep.try_with main ()
    {
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Move ->
              Some
                (fun (k : (a, _) Effect.Deep.continuation) ->
                  on_another_domain k)
          | _ -> None);
    }

(* No effect can pass a callback from C, so the thread must wait without spinning. *)
let wait_in_a_finaliser () =
  let box = Mvar.create_empty () and got = ref 0 in
  let other =
    Domain.spawn @@ fun () ->
    while Mvar.waiters box = 0 do
      Domain.cpu_relax ()
    done;
    Unix.sleepf 0.05;
    Mvar.put box 7
  in
  let before = Gc.allocated_bytes () in
  Concord_fifo.run (fun () ->
      let block = ref 1 in
      Gc.finalise (fun _ -> got := Mvar.take box) block;
      ignore (Sys.opaque_identity block);
      Gc.full_major ();
      Concord_fifo.yield ());
  Domain.join other;
  check "the finaliser took the value" (!got = 7);
  check "it waited without spinning" (Gc.allocated_bytes () -. before < 1e7)

(* The handler runs in the first woken thread of the main domain. That thread then holds the
   lock that the domain's waiting threads share. *)
let fill_in_a_signal_handler () =
  for _ = 1 to 50 do
    let first = Promise.create () and second = Promise.create () in
    let handler _ = ignore (Promise.try_fill second () : bool) in
    Sys.set_signal Sys.sigusr1 (Signal_handle handler);
    let threads =
      List.map (Thread.create Promise.await) [ first; second; first; second ]
    in
    let other =
      Domain.spawn @@ fun () ->
      ignore (Thread.sigmask SIG_BLOCK [ Sys.sigusr1 ] : int list);
      while Promise.waiters first + Promise.waiters second < 5 do
        Domain.cpu_relax ()
      done;
      Unix.kill (Unix.getpid ()) Sys.sigusr1;
      Promise.fill first ()
    in
    Promise.await first;
    List.iter Thread.join threads;
    Domain.join other
  done;
  Sys.set_signal Sys.sigusr1 Signal_default

(* A joiner on another domain is cancelled while the task fails. Either the joiner or [run]
   must get the exception. *)
let joiner_cancelled_while_failing () =
  let rounds = if long then 1_000_000 else 20_000 in
  let shared = Atomic.make None in
  let join (handle, joins, heard) i =
    let joiner =
      Concord_fifo.fork @@ fun () ->
      try Concord_fifo.join handle with
      | Exit -> heard := true
      | Concord_fifo.Cancelled -> ()
    in
    Atomic.set joins 1;
    for _ = 1 to i mod 200 do
      Domain.cpu_relax ()
    done;
    Concord_fifo.cancel joiner;
    Concord_fifo.join joiner;
    Atomic.set joins 2
  in
  let rec next () =
    match Atomic.exchange shared None with
    | Some asked -> asked
    | None ->
        Domain.cpu_relax ();
        next ()
  in
  let other =
    Domain.spawn @@ fun () ->
    Concord_fifo.run @@ fun () ->
    for i = 1 to rounds do
      join (next ()) i
    done
  in
  for _ = 1 to rounds do
    let joins = Atomic.make 0 and heard = ref false in
    let failing () =
      Atomic.set shared (Some (Concord_fifo.self (), joins, heard));
      while Atomic.get joins = 0 do
        Domain.cpu_relax ()
      done;
      raise_notrace Exit
    in
    let raised =
      match Concord_fifo.(run (fun () -> ignore (fork failing : handle))) with
      | () -> false
      | exception Exit -> true
    in
    while Atomic.get joins < 2 do
      Domain.cpu_relax ()
    done;
    check "a task gets the failure" (raised || !heard)
  done;
  Domain.join other

let () =
  watchdog ~seconds:(if long then 600. else 60.);
  let case name f =
    Printf.printf "%s\n%!" name;
    f ()
  in
  case "cancel of an ended task" cancel_of_an_ended_task;
  case "foreign effects" foreign_effects;
  case "protect after lazy cancellation" protected_after_lazy_cancellation;
  case "a foreign loop after moving" foreign_loop_after_moving;
  case "waiting in a finaliser" wait_in_a_finaliser;
  case "filling in a signal handler" fill_in_a_signal_handler;
  case "a joiner cancelled while failing" joiner_cancelled_while_failing;
  match signal_inside_block () with
  | () -> print_endline "signal inside block"
  | exception Concord_fifo.Cancelled ->
      fail "a signal inside block lost a value"
