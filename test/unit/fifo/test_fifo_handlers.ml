(* Signal handlers and finalisers run in the loop, but outside of its tasks. Their waits
   must be refused if nothing else could resume them. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

(* A signal kills the test if it hangs. *)
let () = ignore (Unix.alarm 60 : int)

let in_signal_handler f =
  let handled = ref false in
  let handle _ =
    f ();
    handled := true
  in
  let before = Sys.signal Sys.sigusr1 (Signal_handle handle) in
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  while not !handled do
    ignore (Sys.opaque_identity (ref 0) : int ref)
  done;
  Sys.set_signal Sys.sigusr1 before

let in_finaliser f =
  let finalised = ref false in
  let finalise _ =
    f ();
    finalised := true
  in
  Gc.finalise finalise (ref 0);
  Gc.full_major ();
  Gc.full_major ();
  yes "finalised" !finalised

(* The handler waits for another task of the same loop, which can't run meanwhile. *)
let refused within () =
  Concord_fifo.run @@ fun () ->
  let box : int Mvar.t = Mvar.create_empty () in
  let other =
    Concord_fifo.fork (fun () -> int "the task continues" 4 (Mvar.take box))
  in
  Concord.Tasks.yield ();
  let mutex = Mutex.create () in
  Mutex.lock mutex;
  let never : int Promise.t = Promise.create () in
  within (fun () ->
      raises "take" Suspend.In_handler (fun () -> Mvar.take box);
      raises "lock" Suspend.In_handler (fun () -> Mutex.lock mutex);
      raises "select" Suspend.In_handler (fun () ->
          Event.select
            [
              Mvar.take_evt box;
              (Mutex.lock_evt mutex |> fun e -> Event.wrap e (fun () -> 0));
            ]);
      (* Operations that need not wait still succeed. *)
      yes "peek" (Promise.peek never = None));
  int "only the task waits" 1 (Mvar.waiters box);
  int "no task waits" 0 (Mutex.waiters mutex);
  Mvar.put box 4;
  Concord_fifo.join other

(* Another domain resumes the handler, so the thread may wait. *)
let resumed within () =
  Concord_fifo.run @@ fun () ->
  let box = Mvar.create_empty () in
  let waits () = Mvar.waiters box = 1 in
  let join =
    Check.domain (fun () ->
        eventually "it waits" waits;
        Mvar.put box 5)
  in
  within (fun () -> int "the value" 5 (Mvar.take box));
  join ()

(* A timeout resumes the handler too. *)
let timeout within () =
  Concord_fifo.run @@ fun () ->
  within (fun () ->
      yes "too late"
        (Event.sync_before 0.001
           (Mvar.take_evt (Mvar.create_empty ()) : unit Event.t)
        = None))

let message () =
  let text = Printexc.to_string Suspend.In_handler in
  yes text (contains text "signal handler")

(* This runs before [Check.run], which starts a thread. *)
let () =
  Concord_test_proc.program "handlers that nothing can resume" @@ fun () ->
  refused in_signal_handler ();
  refused in_finaliser ()

let () =
  let each name case =
    [
      test (name ^ ", in a signal handler") (case in_signal_handler);
      test (name ^ ", in a finaliser") (case in_finaliser);
    ]
  in
  Check.run "Fifo, handlers that wait"
    [
      ( "not alone",
        each "a timeout" timeout
        @ each "another domain" resumed
        @ [ test "the message" message ] );
    ]
