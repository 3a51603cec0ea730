(* A process forks while tasks wait, so each structure exists twice from then on. The parent
   spawns no domain, because OCaml forbids a fork after that. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

let in_child f =
  match Unix.fork () with
  | 0 ->
      ignore (Unix.alarm 20 : int);
      let code =
        match f () with
        | () -> 0
        | exception e ->
            prerr_endline (Printexc.to_string e);
            1
      in
      Unix._exit code
  | child -> yes "the child succeeds" (snd (Unix.waitpid [] child) = WEXITED 0)

(* Each process continues with its own copies. *)
let tasks ?cancellation () =
  Fifo.run ?cancellation @@ fun () ->
  let p = Promise.create () and got = ref [] in
  let wait i =
    Fifo.fork (fun () ->
        let v = Promise.await p in
        got := Printf.sprintf "%d %s" i v :: !got)
  in
  let tasks = List.map wait [ 1; 2; 3 ] in
  let go_on name =
    Promise.fill p name;
    List.iter Fifo.join tasks;
    strings name
      (List.map (fun i -> Printf.sprintf "%d %s" i name) [ 1; 2; 3 ])
      (List.rev !got)
  in
  in_child (fun () -> go_on "in the child");
  int "they still wait in the parent" 3 (Promise.waiters p);
  go_on "in the parent"

(* The mutex is locked in both processes. *)
let locks () =
  Fifo.run @@ fun () ->
  let m = Mutex.create () and entered = ref false in
  Mutex.lock m;
  let next =
    Fifo.fork (fun () -> Mutex.protect m (fun () -> entered := true))
  in
  let unlock () =
    Mutex.unlock m;
    Fifo.join next;
    yes "the next one had it" !entered;
    no "it is free" (Mutex.is_locked m)
  in
  in_child unlock;
  yes "locked in the parent" (Mutex.is_locked m);
  unlock ()

let cancelled () =
  Fifo.run @@ fun () ->
  let box = Mvar.create_empty () in
  let task = Fifo.fork (fun () -> ignore (Mvar.take box : int)) in
  in_child (fun () ->
      Fifo.cancel task;
      Fifo.join task;
      int "it no longer waits" 0 (Mvar.waiters box));
  int "it waits in the parent" 1 (Mvar.waiters box);
  Mvar.put box 1;
  Fifo.join task

(* The child doesn't have the parent's threads. *)
let thread_is_gone () =
  let p = Promise.create () in
  let join = thread (fun () -> Promise.await p) in
  eventually "the thread waits" (fun () -> Promise.waiters p = 1);
  Fifo.run (fun () ->
      let behind = Fifo.fork (fun () -> Promise.await p) in
      in_child (fun () ->
          Promise.fill p ();
          Fifo.join behind);
      Promise.fill p ();
      Fifo.join behind);
  join ()

(* The child can start threads, timeouts and domains of its own, although the parent had a
   thread for timers. *)
let goes_on () =
  let impatient box =
    yes "a timeout" (Event.sync_before 0.001 (Mvar.take_evt box) = None)
  in
  impatient (Mvar.create_empty ());
  in_child (fun () ->
      let box = Mvar.create_empty () in
      let join = thread (fun () -> Mvar.put box 1) in
      int "of a thread" 1 (Mvar.take box);
      join ();
      impatient box;
      let join = domain (fun () -> Fifo.run (fun () -> Mvar.put box 2)) in
      int "of a domain" 2 (Fifo.run (fun () -> Mvar.take box));
      join ())

let () =
  run "fork"
    [
      ( "a process that forks",
        [
          test "its tasks continue, and so do the child's" (fun () -> tasks ());
          test "its tasks continue, with lazy cancellation"
            (tasks ~cancellation:`Lazy);
          test "a lock that it holds" locks;
          test "a task is cancelled in the child" cancelled;
          test "a thread that waits is not in the child" thread_is_gone;
          test "the child has threads, timeouts and domains" goes_on;
        ] );
    ]
