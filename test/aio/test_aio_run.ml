(* The loop of [run] in a process without other domains: no second thread, signals, and many
   connections. *)

open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

let threads = Concord_test_proc.threads
let has_thread = Concord_aio__Readiness.has_thread

(* --- One thread ------------------------------------------------------------- *)

(* Alcotest and [Check] may have their own threads, so this compares numbers of threads. *)
let no_thread () =
  let before = threads () in
  Aio.run (fun () ->
      with_pipe @@ fun from to_ ->
      let reader = Fifo.fork (fun () -> strings "got" [ "x" ] [ get from ]) in
      put to_ "x";
      Fifo.join reader;
      int "threads" before (threads ());
      Unix.close from;
      Unix.close to_);
  no "a thread polls" (has_thread ())

(* Tasks keep the loop busy, and only the descriptor ends them. *)
let busy () =
  Aio.run @@ fun () ->
  with_pipe @@ fun from to_ ->
  let ready = ref false in
  let (_ : Fifo.handle) =
    Fifo.fork (fun () ->
        strings "got" [ "x" ] [ get from ];
        ready := true)
  in
  put to_ "x";
  eventually "the pipe is polled" ~pause:Fifo.yield (fun () -> !ready);
  Unix.close from;
  Unix.close to_

let woken_from_outside () =
  let box = Concord.Mvar.create_empty () in
  let join =
    thread (fun () ->
        eventually "the loop waits" (fun () -> Concord.Mvar.waiters box = 1);
        Concord.Mvar.put box 42)
  in
  int "from a thread" 42 (Aio.run (fun () -> Concord.Mvar.take box));
  join ()

(* --- Signals ---------------------------------------------------------------- *)

let with_timer handler f =
  let before = Sys.signal Sys.sigalrm (Signal_handle handler) in
  let set seconds =
    ignore
      (Unix.setitimer ITIMER_REAL { it_interval = seconds; it_value = seconds }
        : Unix.interval_timer_status)
  in
  set 0.001;
  Fun.protect f ~finally:(fun () ->
      set 0.;
      Sys.set_signal Sys.sigalrm before)

(* Only the handler writes what the task reads. *)
let interrupted () =
  Aio.run @@ fun () ->
  with_pipe @@ fun from to_ ->
  let signals = ref 0 in
  let handler _ =
    incr signals;
    if !signals = 5 then put to_ "x"
  in
  with_timer handler (fun () -> strings "got" [ "x" ] [ get from ]);
  yes "interrupted" (!signals >= 5);
  Unix.close from;
  Unix.close to_

exception Struck

let struck () =
  let before = descriptors () in
  with_pipe @@ fun from to_ ->
  let unwound = ref 0 in
  raises "the handler's" Struck (fun () ->
      with_timer
        (fun _ -> raise Struck)
        (fun () ->
          Aio.run (fun () ->
              let wait () =
                Fun.protect
                  ~finally:(fun () -> incr unwound)
                  (fun () -> ignore (get from : string))
              in
              let (_ : Fifo.handle) = Fifo.fork wait in
              wait ())));
  yes "unwound" (!unwound >= 1);
  int "no task waits" 0 (waiting ());
  Unix.close from;
  Unix.close to_;
  yes "no descriptor is left" (descriptors () <= before + 2)

(* --- Exhaustion ------------------------------------------------------------- *)

let no_descriptor () =
  with_pipe @@ fun from to_ ->
  let is_full name f =
    match f () with
    | _ -> Alcotest.fail name
    | exception Unix.Unix_error (EMFILE, _, _) -> ()
  in
  Children.in_child (fun () ->
      exhausted (fun () ->
          is_full "a thread cannot be started" (fun () -> get from);
          is_full "nor a choice" (fun () ->
              Concord.Event.(sync (choose [ Aio.readable_evt from; never ])));
          is_full "nor a loop" (fun () -> Aio.run ignore);
          no "started" (has_thread ()));
      put to_ "x";
      strings "afterwards" [ "x" ] [ Aio.run (fun () -> get from) ];
      put to_ "x";
      strings "in the thread" [ "x" ] [ get from ]);
  Unix.close from;
  Unix.close to_

let no_descriptor_to_accept () =
  Aio.run @@ fun () ->
  let listener, address = listening () in
  let peer = client address in
  exhausted (fun () ->
      match Aio.accept listener with
      | _ -> Alcotest.fail "accepted"
      | exception Unix.Unix_error (EMFILE, _, _) -> ());
  let connection, _ = Aio.accept listener in
  put connection "x";
  strings "it still waited" [ "x" ] [ get peer ];
  List.iter Aio.close [ connection; peer; listener ]

(* --- Standard output ------------------------------------------------------- *)

exception Failing

(* The output of a task that ends last, and output before an exception. *)
let standard_output () =
  with_pipe @@ fun from to_ ->
  Children.in_child (fun () ->
      Unix.dup2 to_ Unix.stdout;
      Aio.run (fun () ->
          let late () =
            Fifo.yield ();
            Fifo.yield ();
            Aio.(output_string stdout "late ")
          in
          ignore (Fifo.fork late : Fifo.handle));
      raises "it" Failing (fun () ->
          Aio.run (fun () ->
              Aio.(output_string stdout "failing");
              raise Failing)));
  Unix.close to_;
  let ic = Unix.in_channel_of_descr from in
  strings "printed" [ "late failing" ] [ In_channel.input_all ic ];
  close_in ic

(* --- Many ------------------------------------------------------------------- *)

let many = 10_000
let batch = 1000

(* A process opens the connections batch by batch, on request, and then writes to each. *)
let peers address ~told ~tell =
  let wait () = ignore (Unix.read told (Bytes.create 1) 0 1 : int) in
  let connect _ =
    let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
    Unix.connect fd address;
    fd
  in
  let all =
    List.concat
      (List.init (many / batch) (fun _ ->
           wait ();
           let some = List.init batch connect in
           put tell "x";
           some))
  in
  wait ();
  List.iter (fun fd -> put fd "x") all;
  wait ()

let idle () =
  let before = descriptors () in
  let listener, address = listening () in
  let told, tell_peers = Unix.pipe () and hear, tell = Unix.pipe () in
  flush_all ();
  match Unix.fork () with
  | 0 ->
      (try peers address ~told ~tell with _ -> Unix._exit 1);
      Unix._exit 0
  | child ->
      let ended = ref 0 in
      Aio.run (fun () ->
          let serve fd () =
            strings "woken" [ "x" ] [ get fd ];
            incr ended;
            Aio.close fd
          in
          let words () =
            Gc.full_major ();
            (Gc.quick_stat ()).heap_words
          in
          let words_before = words () in
          for _ = 1 to many / batch do
            put tell_peers "x";
            strings "a batch" [ "x" ] [ get hear ];
            for _ = 1 to batch do
              let fd, _ = Aio.accept listener in
              ignore (Fifo.fork (serve fd) : Fifo.handle)
            done
          done;
          eventually "all wait" ~pause:Fifo.yield (fun () -> waiting () = many);
          let each = (words () - words_before) / many in
          if each > 500 then
            Alcotest.failf "an idle connection takes %d words" each;
          put tell_peers "x");
      int "ended" many !ended;
      int "no task waits" 0 (waiting ());
      put tell_peers "x";
      ignore (Unix.waitpid [] child : int * Unix.process_status);
      List.iter Unix.close [ listener; told; tell_peers; hear; tell ];
      int "descriptors" before (descriptors ())

let descriptors_left () =
  let all = exhaust () in
  List.iter Unix.close all;
  List.length all

let many_idle () =
  let left = descriptors_left () in
  if left < many + 100 then
    Printf.printf "skipped: only %d descriptors are left (ulimit -n)\n" left
  else idle ()

(* A loop that has ended, and a busy one, keep no file that no task waits for. *)
let lets_go ~busy () =
  let here, there = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  let has_ended () =
    match Unix.select [ there ] [] [] 0. with
    | [], _, _ -> false
    | _ -> Unix.read there (Bytes.create 1) 0 1 = 0
  in
  let lose () =
    Concord.Event.(select [ timeout 0.001; Aio.readable_evt here ]);
    if busy then begin
      Unix.close here;
      eventually "the end" ~pause:Fifo.yield has_ended
    end
  in
  Aio.run lose;
  if not busy then begin
    Unix.close here;
    yes "the end" (has_ended ())
  end;
  Unix.close there

let () =
  Check.run "aio: run"
    [
      ( "run",
        [
          test "no descriptor is left" no_descriptor;
          test "no second thread" no_thread;
          test "a busy loop polls" busy;
          test "woken by a thread" woken_from_outside;
          test "EINTR" interrupted;
          test "a loop that has ended lets go" (lets_go ~busy:false);
          test "a busy loop lets go" (lets_go ~busy:true);
          test "a signal handler that raises" struck;
          test "no descriptor is left to accept" no_descriptor_to_accept;
          test "fork, in a task" Children.fork_in_run;
          test "fork, and bells" Children.bells;
          test "fork, with a thread" Children.fork_beside_the_thread;
          test "standard output" standard_output;
          test "10,000 idle connections" many_idle;
        ] );
    ]
