(* Lwt's loop: which thread owns it, signals, and what a callback may do in it. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Lwt.Syntax

let run = Concord_lwt.run
let thread () = Thread.id (Thread.self ())

(* --- Whose it is ----------------------------------------------------------- *)

(* Another [run] at the same time fails, here and in a thread, and this one continues. *)
let beside_another () =
  run @@ fun () ->
  let* () = Lwt.pause () in
  let is_refused () =
    match run Lwt.return with () -> false | exception Failure _ -> true
  in
  yes "here" (is_refused ());
  yes "in a thread" (in_thread is_refused);
  yes "in a domain" (in_domain is_refused);
  let box : int Mvar.t = Mvar.create_empty () in
  raises "a plain callback" Concord_lwt.In_callback (fun () -> Mvar.take box);
  let p = Concord_lwt.Mvar.take box in
  in_domain (fun () -> Mvar.put box 3);
  let+ v = p in
  int "the value" 3 v

(* --- Signals --------------------------------------------------------------- *)

(* The handler runs in Lwt's thread while the loop sleeps, because the other threads mask the
   signal. *)
let in_signal_handler () =
  let signal = Sys.sigusr1 in
  for _ = 1 to 50 do
    let p = Promise.create () in
    let asleep = Atomic.make false in
    let hook =
      Lwt_main.Enter_iter_hooks.add_last (fun () ->
          if Lwt.paused_count () = 0 && Promise.waiters p = 1 then
            Atomic.set asleep true)
    in
    let handled_in = ref 0 in
    let handle _ =
      handled_in := thread ();
      Promise.fill p 1
    in
    let before = Sys.signal signal (Signal_handle handle) in
    let kill () =
      eventually "it sleeps" (fun () -> Atomic.get asleep);
      Unix.kill (Unix.getpid ()) signal
    in
    let thread_ = with_signals_blocked (Thread.create kill) in
    int "the value" 1 (run (fun () -> Concord_lwt.Promise.await p));
    Thread.join thread_;
    Sys.set_signal signal before;
    Lwt_main.Enter_iter_hooks.remove hook
  done

(* --- What a callback may do ------------------------------------------------ *)

(* Two promises are woken in one round, and the callback of the first one raises. *)
let callback_raises () =
  let a = Promise.create () and b = Promise.create () in
  let pa = Concord_lwt.to_lwt a and pb = Concord_lwt.to_lwt b in
  let hook = !Lwt.async_exception_hook in
  Lwt.async_exception_hook := raise;
  Fun.protect
    ~finally:(fun () -> Lwt.async_exception_hook := hook)
    (fun () ->
      raises "the callback's exception" Exit (fun () ->
          run (fun () ->
              Lwt.on_success pa (fun () -> raise Exit);
              Promise.fill a ();
              Promise.fill b ();
              fst (Lwt.wait ()))));
  run (fun () -> pb)

(* A suspension that doesn't have to wait must not keep the stack of the one before it. *)
let suspends_in_vain () =
  run @@ fun () ->
  Concord_lwt.direct (fun () ->
      let depth () =
        Printexc.(raw_backtrace_length (get_callstack 1_000_000))
      in
      let before = depth () in
      for _ = 1 to 1_000 do
        no "cancelled" (Suspend.is_cancelled ())
      done;
      yes "the stack has not grown" (depth () < before + 100))

let () =
  Check.run "Concord_lwt, its loop and others"
    [
      ("whose it is", [ test "not beside another run" beside_another ]);
      ( "callbacks",
        [
          test "one raises" callback_raises;
          test "a suspension in vain" suspends_in_vain;
        ] );
      ("signals", [ test "a handler wakes a sleeping loop" in_signal_handler ]);
    ]
