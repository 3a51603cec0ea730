(* Programs that hang, each in its own way. They don't use Debug, because [CONCORD_DEBUG]
   alone must make them report. Their output tells the test how far they are. *)

open Concord
open Concord.Tools

let say text =
  print_endline text;
  flush stdout

let rec until condition =
  if not (condition ()) then begin
    Thread.delay 0.001;
    until condition
  end

let first = Mutex.create ()
let second = Mutex.create ()

(* The call to [protect] isn't the last one here, so this function's frame stays on the
   stack. *)
let[@inline never] locks_both a b meet =
  Mutex.protect a (fun () ->
      Barrier.await meet;
      Mutex.protect b ignore;
      ());
  ()

let inversion () =
  let meet = Barrier.create 2 in
  let thread a b = Thread.create (fun () -> locks_both a b meet) () in
  let threads = [ thread first second; thread second first ] in
  until (fun () -> Mutex.waiters first = 1 && Mutex.waiters second = 1);
  threads

let deadlock () =
  let threads = inversion () in
  say "ready";
  List.iter Thread.join threads

(* Every thread waits in an operation of the library, so nothing can wake one. *)
let nothing_left () =
  ignore (inversion () : Thread.t list);
  say "ready";
  Mutex.lock first

(* Another thread wakes the task, but the task's loop is busy computing. *)
let woken () =
  let box = Mvar.create_empty ~name:"box" () in
  Concord_fifo.run (fun () ->
      let take () = Mvar.take box in
      ignore (Concord_fifo.fork take : Concord_fifo.handle);
      Thread.join (Thread.create (fun () -> Mvar.put box ()) ());
      say "ready";
      while true do
        Sys.opaque_identity ()
      done)

let computing () =
  ignore (inversion () : Thread.t list);
  say "ready";
  while true do
    Sys.opaque_identity ()
  done

let told name f =
  match f () with
  | () -> say (name ^ " continued")
  | exception Suspend.Never_resumed -> say (name ^ " got the exception")

let alone () =
  told "the thread" (fun () -> Mvar.take (Mvar.create_empty ()));
  told "the task" (fun () ->
      Concord_fifo.run (fun () -> Mvar.take (Mvar.create_empty ())));
  told "the thread again" (fun () -> Event.sync (Event.never : unit Event.t))

(* The exception names the structure in which the task waited, if that has a name. For a
   choice it names none. *)
let alone_named () =
  let say_what f =
    match f () with
    | () -> say "continued"
    | exception (Suspend.Never_resumed as e) -> say (Printexc.to_string e)
  in
  let answer = Promise.create ~name:"answer" () in
  say_what (fun () -> Concord_fifo.run (fun () -> Promise.await answer));
  say_what (fun () -> Promise.await answer);
  say_what (fun () ->
      Event.select [ Promise.await_evt answer; Promise.await_evt answer ])

(* Threads that sleep often must not collect each time, and what is lost in a program that is
   quiet then is found nevertheless. *)
let lost_after_traffic () =
  let ping = Mvar.create_empty () and pong = Mvar.create_empty () in
  let echo () =
    while true do
      Mvar.put pong (Mvar.take ping)
    done
  in
  ignore (Thread.create echo () : Thread.t);
  (* While this thread exists, the others might be woken. *)
  ignore (Thread.create Thread.delay 60. : Thread.t);
  let before = (Gc.quick_stat ()).major_collections in
  for _ = 1 to 2_000 do
    Mvar.put ping ();
    Mvar.take pong
  done;
  let after = (Gc.quick_stat ()).major_collections in
  say (if after - before < 1_000 then "few collections" else "collects always");
  told "the task" (fun () ->
      Concord_fifo.run (fun () -> Mvar.take (Mvar.create_empty ())));
  (* If another thread collected, it writes the report when the task has the exception. *)
  Thread.delay 60.

let counts () =
  Printf.printf "%d threads, %s\n%!"
    (Concord_test_proc.threads ())
    (if Concord__core__Observer.takes_slow_path () then "slow path"
     else "fast path")

(* The child of a fork doesn't have the threads that report, so they must not be counted
   there. *)
let forked () =
  match Unix.fork () with
  | 0 ->
      alone ();
      exit 0
  | child ->
      ignore (Unix.waitpid [] child : int * Unix.process_status);
      say "joined"

(* The child's own thread must not be mistaken for a thread that reports. *)
let forked_with_company () =
  match Unix.fork () with
  | 0 ->
      (* Ends the child if it hangs, because nothing else would. *)
      ignore (Unix.alarm 10 : int);
      let box = Mvar.create_empty () in
      let put () =
        until (fun () -> Mvar.waiters box = 1);
        Mvar.put box ()
      in
      let thread = Thread.create put () in
      told "the child" (fun () -> Mvar.take box);
      Thread.join thread;
      exit 0
  | child -> ignore (Unix.waitpid [] child : int * Unix.process_status)

(* Two tasks are deadlocked, while two others exchange values. *)
let busy () =
  ignore (inversion () : Thread.t list);
  let ping = Mvar.create_empty () and pong = Mvar.create_empty () in
  let echo () =
    while true do
      Mvar.put pong (Mvar.take ping)
    done
  in
  ignore (Thread.create echo () : Thread.t);
  say "ready";
  while true do
    Mvar.put ping ();
    Mvar.take pong
  done

(* Continues three times, once for each line on the standard input. *)
let stalls () =
  let box = Mvar.create_empty () in
  let take () =
    for _ = 1 to 3 do
      Mvar.take box
    done
  in
  let thread = Thread.create take () in
  say "ready";
  for _ = 1 to 3 do
    ignore (read_line () : string);
    Mvar.put box ()
  done;
  Thread.join thread;
  say "ended"

let () =
  match Sys.argv.(1) with
  | "deadlock" -> deadlock ()
  | "nothing left" -> nothing_left ()
  | "woken" -> woken ()
  | "busy" -> busy ()
  | "computing" -> computing ()
  | "alone" -> alone ()
  | "alone, named" -> alone_named ()
  | "lost after traffic" -> lost_after_traffic ()
  | "counts" -> counts ()
  | "forked" -> forked ()
  | "forked, with company" -> forked_with_company ()
  | "stalls" -> stalls ()
  | name -> failwith name
