(* Fifo with other hosts. [Wait_cases] has what each host needs of a Fifo in its task. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
module Pool = Domainslib.Task

let fork f = ignore (Fifo.fork f : Fifo.handle)
let eio f = Eio_main.run (fun _ -> f ())

let with_pool f =
  let pool = Pool.setup_pool ~num_domains:1 () in
  Fun.protect ~finally:(fun () -> Pool.teardown_pool pool) (fun () -> f pool)

(* --- In other hosts --------------------------------------------------------- *)

let in_pool_tasks () =
  with_pool @@ fun pool ->
  let n = 40 in
  let boxes = Array.init n (fun _ -> Mvar.create_empty ()) in
  (* The tasks form a ring. Each waits for its neighbour, in a scheduler of its own that may
     continue on another domain. *)
  let ring i () =
    Fifo.run (fun () ->
        let v = Fifo.fork_promise (fun () -> Mvar.take boxes.(i)) in
        fork Fifo.yield;
        Mvar.put boxes.((i + 1) mod n) (Promise.await v + 1))
  in
  let tasks () =
    let tasks = List.init n (fun i -> Pool.async pool (ring i)) in
    Mvar.put boxes.(0) 0;
    List.iter (Pool.await pool) tasks
  in
  Pool.run pool tasks;
  int "round the ring" n (Mvar.take boxes.(0))

let everywhere () =
  let box = Mvar.create_empty () and n = 200 in
  let put () =
    Fifo.run (fun () ->
        for _ = 1 to 2 do
          fork (fun () ->
              for i = 1 to n / 2 do
                Mvar.put box i
              done)
        done)
  in
  let sum = ref 0 in
  let take () =
    Fifo.run (fun () ->
        for _ = 1 to 5 * n do
          sum := !sum + Mvar.take box
        done)
  in
  let domain = Domain.spawn put in
  let thread = Thread.create put () in
  let eio = Domain.spawn (fun () -> eio (fun () -> Eio.Fiber.both put put)) in
  beside put take;
  Thread.join thread;
  List.iter Domain.join [ domain; eio ];
  int "sum" (5 * n * ((n / 2) + 1) / 2) !sum

(* --- Resumed from outside ---------------------------------------------------- *)

let from_threads_and_domains () =
  let n = 6 * 500 in
  let promises = Array.init n (fun _ -> Promise.create ()) in
  let fill part () =
    for i = 0 to (n / 6) - 1 do
      Promise.fill promises.((6 * i) + part) 1
    done
  in
  let sum = ref 0 in
  let fillers = ref ignore in
  Fifo.run (fun () ->
      Array.iter
        (fun p -> fork (fun () -> sum := !sum + Promise.await p))
        promises;
      let domains = List.init 2 (fun i -> Domain.spawn (fill i)) in
      let threads = List.init 4 (fun i -> Thread.create (fill (2 + i)) ()) in
      fillers :=
        fun () ->
          List.iter Domain.join domains;
          List.iter Thread.join threads);
  !fillers ();
  int "each was resumed once" n !sum

let while_busy place () =
  let handle = Atomic.make None in
  let p = Promise.create () and never = Promise.create () in
  let other () =
    eventually "a task waits" (fun () -> Atomic.get handle <> None);
    Promise.fill p ();
    Option.iter Fifo.cancel (Atomic.get handle)
  in
  let ended = place other in
  Fifo.run (fun () ->
      let ends = ref 0 in
      let busy = ref true in
      fork (fun () ->
          while !busy do
            Fifo.yield ()
          done);
      let cancelled =
        Fifo.fork (fun () ->
            try Promise.await never with Fifo.Cancelled -> incr ends)
      in
      fork (fun () ->
          Promise.await p;
          incr ends);
      Atomic.set handle (Some cancelled);
      eventually ~pause:Fifo.yield "both" (fun () -> !ends = 2);
      busy := false);
  ended ()

let cpu () =
  let t = Unix.times () in
  t.tms_utime +. t.tms_stime

let idle () =
  let p = Promise.create () in
  let started = cpu () and since = Unix.gettimeofday () in
  let thread =
    Thread.create
      (fun () ->
        Thread.delay 0.3;
        Promise.fill p ())
      ()
  in
  Fifo.run (fun () ->
      fork (fun () -> Promise.await p);
      Promise.await p);
  Thread.join thread;
  yes "it waited" (Unix.gettimeofday () -. since >= 0.29);
  let used = cpu () -. started in
  if used > 0.05 then Alcotest.failf "while idle, it used %.3f s of CPU" used

(* --- Foreign loops in a task -------------------------------------------------- *)

let eio_inside () =
  traced [ "fiber waits"; "fiber fills"; "fiber got 3"; "fifo continues" ]
  @@ fun say ->
  Fifo.run @@ fun () ->
  let p = Promise.create () in
  eio (fun () ->
      Eio.Fiber.both
        (fun () ->
          say "fiber waits";
          say (Printf.sprintf "fiber got %d" (Promise.await p)))
        (fun () ->
          say "fiber fills";
          Promise.fill p 3));
  (* Eio's loop has ended, so the task's host is Fifo again. *)
  let q = Promise.create () in
  fork (fun () -> Promise.fill q ());
  Promise.await q;
  say "fifo continues"

let eio_inside_in_turn () =
  Fifo.run @@ fun () ->
  for _ = 1 to 3 do
    eio_inside ();
    let box = Mvar.create_empty () in
    fork (fun () ->
        Fifo.yield ();
        Mvar.put box 1);
    int "taken" 1 (Mvar.take box);
    Fifo.yield ()
  done

let fifo_in_eio_in_fifo () =
  traced [ "inner waits"; "fiber fills"; "inner resumed" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let p = Promise.create () in
  eio (fun () ->
      Eio.Fiber.both
        (fun () ->
          Fifo.run (fun () ->
              fork (fun () ->
                  say "inner waits";
                  Promise.await p;
                  say "inner resumed")))
        (fun () ->
          say "fiber fills";
          Promise.fill p ()))

let misuse_in_a_fiber () =
  let refused name f =
    raises name
      (Invalid_argument
         ("Concord_fifo." ^ name
        ^ ": the caller is not a task of Concord_fifo.run"))
      f
  in
  Fifo.run @@ fun () ->
  eio (fun () ->
      refused "yield" Fifo.yield;
      refused "fork" (fun () -> fork ignore);
      refused "self" (fun () -> ignore (Fifo.self () : Fifo.handle)));
  Fifo.yield ()

let pool_inside () =
  let exchange pool () =
    let p = Promise.create () in
    let waiter = Pool.async pool (fun () -> Promise.await p) in
    let filler = Pool.async pool (fun () -> Promise.fill p 4) in
    Pool.await pool filler;
    Pool.await pool waiter
  in
  (* The pool has only the caller's domain, so the inner loop has to run the other task. *)
  let pool = Pool.setup_pool ~num_domains:0 () in
  Fifo.run (fun () ->
      int "value" 4 (Pool.run pool (exchange pool));
      Fifo.yield ();
      int "again" 4 (Pool.run pool (exchange pool)));
  eio (fun () -> int "in a fiber" 4 (Pool.run pool (exchange pool)));
  Pool.teardown_pool pool

let pool_and_eio () =
  let pool = Pool.setup_pool ~num_domains:0 () in
  let v =
    eio (fun () ->
        Pool.run pool (fun () ->
            let p = Promise.create () in
            let waiter = Pool.async pool (fun () -> Promise.await p) in
            let nested =
              Pool.async pool (fun () ->
                  Fifo.run (fun () ->
                      let q = Promise.create () in
                      fork (fun () ->
                          Fifo.yield ();
                          Promise.fill q 5);
                      Promise.fill p (Promise.await q)))
            in
            Pool.await pool nested;
            Pool.await pool waiter))
  in
  int "value" 5 v;
  Pool.teardown_pool pool

type _ Effect.t += Move : unit Effect.t

(* The scheduler has found out that it is the innermost one on its domain. It then continues
   on another domain, where its task starts a loop. *)
let eio_after_moving () =
  traced [ "fiber waits"; "fiber got 3"; "fifo continues" ] @@ fun say ->
  let task () =
    Fifo.run @@ fun () ->
    Fifo.yield ();
    Effect.perform Move;
    eio (fun () ->
        let p = Promise.create () in
        Eio.Fiber.both
          (fun () ->
            say "fiber waits";
            say (Printf.sprintf "fiber got %d" (Promise.await p)))
          (fun () -> Promise.fill p 3));
    Fifo.yield ();
    say "fifo continues"
  in
  let effc (type a) (e : a Effect.t) :
      ((a, unit) Effect.Deep.continuation -> unit) option =
    match e with
    | Move -> Some (fun k -> in_domain (Effect.Deep.continue k))
    | _ -> None
  in
  Effect.Deep.try_with task () { effc }

let others_go_on_beside_a_pool () =
  (* A foreign loop that blocks stops its own domain but no other. *)
  with_pool @@ fun pool ->
  let box = Mvar.create_empty () in
  let domain = Domain.spawn (fun () -> Fifo.run (fun () -> Mvar.put box 1)) in
  let v = Fifo.run (fun () -> Pool.run pool (fun () -> Mvar.take box)) in
  Domain.join domain;
  int "value" 1 v

let () =
  run "Fifo, with others"
    [
      ( "in other hosts",
        [
          test "in 40 tasks of a pool" in_pool_tasks;
          test "in a thread, domains, Eio fibers at once" everywhere;
        ] );
      ( "from outside",
        [
          test "4 threads and 2 domains resume 3,000 tasks"
            from_threads_and_domains;
          test "a busy scheduler hears a thread" (while_busy thread);
          test "a busy scheduler hears a domain" (while_busy domain);
          test "an idle scheduler uses no CPU" idle;
        ] );
      ( "a foreign loop in a task",
        [
          test "Eio: its fibers wait for each other" eio_inside;
          test "Eio: three times, in turn with Fifo" eio_inside_in_turn;
          test "Eio, with Fifo in a fiber" fifo_in_eio_in_fifo;
          test "Eio: a fiber is not a task of Fifo" misuse_in_a_fiber;
          test "Eio, on another domain than before" eio_after_moving;
          test "Domainslib in Fifo, and in Eio" pool_inside;
          test "Fifo in Domainslib in Eio" pool_and_eio;
          test "Domainslib, with another domain's task"
            others_go_on_beside_a_pool;
        ] );
    ]
