(* What racing and reading once found, made deterministic. *)

open Concord
open Concord_test_support.Race

let check name right = if not right then fail "%s" name

(* A handle outlives its task, but cancels nobody else. *)
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

(* A task that was unwound by a resumer is not cancelled again, in its clean-up,
   when the scheduler has nothing else to do. *)
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
        (* Twice idle since: the loop, nested, has parked in this one. *)
        Promise.fill clean ()
      in
      let thread = Thread.create filler () in
      Concord_fifo.yield ();
      Concord_fifo.yield ();
      Promise.fill idle ();
      Concord_fifo.join task;
      Thread.join thread);
  check "protected" (not !broken)

(* A cancellation that arrives inside [block] waits until it is over. *)
let signal_inside_block () =
  let task = ref None in
  let on_signal _ = Option.iter Concord_fifo.cancel !task in
  let before = Sys.signal Sys.sigusr1 (Signal_handle on_signal) in
  let v =
    Concord_fifo.run @@ fun () ->
    task := Some (Concord_fifo.self ());
    Suspend.suspend @@ fun _ ->
    Unix.kill (Unix.getpid ()) Sys.sigusr1;
    Thread.yield ();
    Some 1
  in
  Sys.set_signal Sys.sigusr1 before;
  check "block's value" (v = 1)

let () =
  watchdog ~seconds:30.;
  let case name f =
    Printf.printf "%s\n%!" name;
    f ()
  in
  case "cancel of an ended task" cancel_of_an_ended_task;
  case "foreign effects" foreign_effects;
  case "protect after lazy cancellation" protected_after_lazy_cancellation;
  match signal_inside_block () with
  | () -> print_endline "signal inside block"
  | exception Concord_fifo.Cancelled ->
      fail "a signal inside block lost a value"
