(* The schedulers of Picos. *)

open Picos
module Promise = Concord.Promise

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

(* A fiber with its own computation, and what cancels that. [f] calls its argument when the
   fiber should count as begun, which fills the promise. *)
let spawn_noting f =
  let computation = Computation.create () in
  let begun = Promise.create () in
  let note () = ignore (Promise.try_fill begun () : bool) in
  let fiber = Fiber.create ~forbid:false computation in
  Fiber.spawn fiber (fun _ ->
      (try f note with Ended -> ());
      note ());
  let cancel () =
    Computation.cancel computation Ended (Printexc.get_callstack 0)
  in
  (begun, cancel)

let spawn f =
  let begun, cancel =
    spawn_noting (fun note ->
        note ();
        f ())
  in
  while not (Promise.is_resolved begun) do
    Fiber.yield ()
  done;
  cancel

(* Returns when the fiber waits, or has ended. The scheduler [random] runs others whenever a
   fiber asks which one it is. So a fiber may already be in the queue of a condition, but not
   wait yet, and a cancellation would come first. If the caller yielded, it would keep a thread
   of a Moonpool pool for itself. *)
let spawn_until_it_waits f =
  let begun, cancel =
    spawn_noting (fun note ->
        let effc (type a) (e : a Effect.t) :
            ((a, _) Effect.Deep.continuation -> _) option =
          (match e with Trigger.Await _ -> note () | _ -> ());
          None
        in
        Effect.Deep.try_with f () { effc })
  in
  Promise.await begun;
  cancel

(* Runs the functions in fibers, until all have ended. *)
let all_of fs = Picos_std_structured.Run.all fs

let cancelling ?(fork = spawn_until_it_waits) ?(pause = Fiber.yield) (s : t) =
  Concord_test_hosts.Cancelling.
    {
      run = (fun f -> s.run f);
      fork;
      pause;
      is_cancellation = (fun e -> e = Ended);
      protects = true;
    }
