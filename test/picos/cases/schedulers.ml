(* The schedulers of Picos. *)

open Picos

type t = { name : string; run : 'a. (unit -> 'a) -> 'a }

let fifo = { name = "fifo"; run = (fun f -> Picos_mux_fifo.run f) }
let random = { name = "random"; run = (fun f -> Picos_mux_random.run f) }
let thread = { name = "thread"; run = (fun f -> Picos_mux_thread.run f) }

let multififo =
  {
    name = "multififo";
    run = (fun f -> Picos_mux_multififo.run_on ~n_domains:2 f);
  }

let randoms =
  {
    name = "random, 2 domains";
    run = (fun f -> Picos_mux_random.run_on ~n_domains:2 f);
  }

let all = [ fifo; random; randoms; multififo; thread ]

(* Registered as the innermost scheduler. *)
let registered (s : t) =
  {
    name = s.name ^ ", registered";
    run = (fun f -> Concord_picos.using (fun () -> s.run f));
  }

(* --- Fibers ---------------------------------------------------------------- *)

exception Ended

(* A fiber with its own computation. The result cancels that computation. *)
let spawn f =
  let computation = Computation.create () in
  let begun = Atomic.make false in
  let fiber = Fiber.create ~forbid:false computation in
  Fiber.spawn fiber (fun _ ->
      Atomic.set begun true;
      match f () with () -> () | exception Ended -> ());
  while not (Atomic.get begun) do
    Fiber.yield ()
  done;
  fun () -> Computation.cancel computation Ended (Printexc.get_callstack 0)

(* Runs the functions in fibers, until all have ended. *)
let all_of fs = Picos_std_structured.Run.all fs

(* On one thread, a fiber that has begun runs until it waits. *)
let cancelling (s : t) =
  Concord_test_hosts.Cancelling.
    {
      run = (fun f -> s.run f);
      fork = spawn;
      pause = Fiber.yield;
      is_cancellation = (fun e -> e = Ended);
      protects = true;
    }
