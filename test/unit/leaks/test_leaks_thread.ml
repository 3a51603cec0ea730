(* The last thread of a program waits in structures. The program doesn't use the library's
   support for tests, because that has a thread of its own. *)

open Concord
open Lost

let check what condition =
  if not condition then begin
    Printf.eprintf "FAIL %s\n%!" what;
    exit 1
  end

let last = "no other thread is left"

(* A joined thread counts until the system has ended it, which may be late. Until then, a
   thread that begins to wait isn't the last one. *)
let rec until_alone ?(tries = 20_000) () =
  if Concord__core__Others.may_wake ~asleep:0 then begin
    check "the others have ended" (tries > 0);
    Thread.delay 0.001;
    until_alone ~tries:(tries - 1) ()
  end

let[@inline never] takes_in_vain box =
  let v = Mvar.take box in
  ignore (Sys.opaque_identity box : unit Mvar.t);
  v

let told () =
  until_alone ();
  let box = Mvar.create_empty () in
  let mutex = Mutex.create () in
  let was_told, report =
    with_report (fun () ->
        told (fun () -> Mutex.protect mutex (fun () -> takes_in_vain box)))
  in
  check "the thread got the exception" was_told;
  check "one report" (count report last = 1);
  check "it shows where" (count report "takes_in_vain" = 1);
  check "no task waits" (Mvar.waiters box = 0);
  check "the mutex is free" (Mutex.try_lock mutex)

(* The program refers to this mutex, so the collector doesn't find the task. *)
let mutex = Mutex.create ()

let[@inline never] locks_twice () =
  Mutex.protect mutex (fun () -> Mutex.protect mutex ignore);
  ignore (Sys.opaque_identity mutex : Mutex.t)

let told_in_fifo () =
  until_alone ();
  let was_told, report =
    with_report (fun () -> Lost.told (fun () -> Concord_fifo.run locks_twice))
  in
  check "the task got the exception" was_told;
  check "one report of a task" (count report last = 1);
  check "it shows where the task waits" (count report "locks_twice" >= 1);
  check "the task's mutex is free" (Mutex.try_lock mutex);
  Mutex.unlock mutex

let nothing what f =
  let (), report = with_report f in
  check (what ^ ": " ^ report) (count report last = 0)

(* The child of a fork gets a searching thread of its own. Another thread keeps the task from
   being that of the last thread. *)
let told_in_child () =
  match Unix.fork () with
  | 0 ->
      ignore (Thread.create Thread.delay 60. : Thread.t);
      let was_told =
        Lost.told (fun () ->
            Concord_fifo.run (fun () ->
                Promise.await (Promise.create () : unit Promise.t)))
      in
      Unix._exit (if was_told then 0 else 1)
  | child ->
      let rec wait tries =
        match Unix.waitpid [ WNOHANG ] child with
        | 0, _ when tries > 0 ->
            Thread.delay 0.01;
            wait (tries - 1)
        | 0, _ ->
            Unix.kill child Sys.sigkill;
            ignore (Unix.waitpid [] child : int * Unix.process_status);
            false
        | _, status -> status = WEXITED 0
      in
      check "a task of the child got the exception" (wait 2_000)

let () =
  Concord_test_proc.program "the last thread" @@ fun () ->
  restart ();
  Printexc.record_backtrace true;
  told ();
  told_in_fifo ();
  nothing "a timeout" (fun () ->
      Event.select [ Mvar.take_evt (Mvar.create_empty ()); Event.timeout 0.01 ]);
  told ();
  nothing "another thread" (fun () ->
      let box = Mvar.create_empty () in
      let thread = Thread.create (fun () -> Mvar.put box ()) () in
      Mvar.take box;
      Thread.join thread);
  (* OCaml refuses to fork once there was another domain. *)
  told_in_child ();
  nothing "another domain" (fun () ->
      let box = Mvar.create_empty () in
      let domain = Domain.spawn (fun () -> Mvar.put box ()) in
      Mvar.take box;
      Domain.join domain);
  told_in_fifo ();
  nothing "a task of fifo" (fun () ->
      Concord_fifo.run (fun () -> Event.sync (Event.timeout 0.01)));
  (* If a signal is handled, the wait isn't reported, because the handler could end it. *)
  let handle_signals = Concord__core__Others.handle_signals in
  check "no signal is handled" (not (handle_signals ()));
  let before = Sys.signal Sys.sigalrm (Sys.Signal_handle ignore) in
  check "a signal is handled" (handle_signals ());
  Sys.set_signal Sys.sigalrm before;
  print_endline "OK"
