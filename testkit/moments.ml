let signal = Sys.sigusr1

(* Another thread may receive a signal while this one runs the handler of the one before, in
   which it blocks the signal. Then the runtime doesn't look for the signal again before a
   blocking section ends, so this waits in one. *)
let pause () = Thread.delay 0.000_05

(* The signal has to arrive before the old handler is restored, because by default [SIGUSR1]
   ends the process. *)
let with_handler handler f =
  Trial.needs_signals ();
  let pid = Unix.getpid () and on_its_way = Atomic.make false in
  let send () =
    Atomic.set on_its_way true;
    Unix.kill pid signal
  in
  let handle _ =
    Atomic.set on_its_way false;
    handler send
  in
  let mask = Thread.sigmask SIG_UNBLOCK [ signal ] in
  let before = Sys.signal signal (Signal_handle handle) in
  let restore () =
    while Atomic.get on_its_way do
      pause ()
    done;
    Sys.set_signal signal before;
    ignore (Thread.sigmask SIG_SETMASK mask : int list)
  in
  Fun.protect (fun () -> f send) ~finally:restore
