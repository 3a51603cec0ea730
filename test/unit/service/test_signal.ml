open Concord
open Concord_test_support
open Check
module Caught = Concord_stub.Caught_signals

let me = Unix.getpid ()
let send signal = Unix.kill me signal

(* Counts the calls of the program's own handler. *)
let handled = Atomic.make 0
let handle _ = Atomic.incr handled
let is_handled n = eventually "handled" (fun () -> Atomic.get handled = n)

let with_handler signal behavior f =
  Atomic.set handled 0;
  let before = Sys.signal signal behavior in
  Fun.protect ~finally:(fun () -> Sys.set_signal signal before) f

let usr1 = Sys.sigusr1
let usr2 = Sys.sigusr2
let usr1_handled f () = with_handler usr1 (Signal_handle handle) f

(* Checks that the program's disposition is back. OCaml reports the default for a handler in
   C. *)
let is_restored () =
  yes "the disposition"
    (match Sys.signal usr1 (Signal_handle handle) with
    | Signal_handle _ -> true
    | Signal_default | Signal_ignore -> false);
  let n = Atomic.get handled in
  send usr1;
  is_handled (n + 1)

(* --- Once ------------------------------------------------------------------- *)

let fills () =
  let p = Signal.once [ usr1; usr2 ] in
  no "pending" (Promise.is_resolved p);
  send usr1;
  int "which" usr1 (Promise.await p);
  is_restored ()

let system_number () =
  let p = Signal.once [ 10 ] in
  send usr1;
  int "in OCaml's numbers" usr1 (Promise.await p)

let twice_in_the_list () =
  let p = Signal.once [ usr1; 10; usr1 ] in
  send usr1;
  int "which" usr1 (Promise.await p);
  is_restored ()

let overlapping () =
  let both = Signal.once [ usr1; usr2 ] in
  let first = Signal.once [ usr1 ] and second = Signal.once [ usr2 ] in
  let again = Signal.once [ usr1 ] in
  send usr1;
  let which = List.map Promise.await [ both; first; again ] in
  yes "all of them" (which = [ usr1; usr1; usr1 ]);
  no "the other one waits" (Promise.is_resolved second);
  is_restored ();
  send usr2;
  int "the other one" usr2 (Promise.await second)

let one_after_another () =
  for _ = 1 to 200 do
    let p = Signal.once [ usr1 ] in
    send usr1;
    int "which" usr1 (Promise.await p)
  done;
  int "none was passed on" 0 (Atomic.get handled);
  is_restored ()

let given_up () =
  let p = Signal.once [ usr1; usr2 ] in
  let other = Signal.once [ usr2 ] in
  Promise.fill p 0;
  is_restored ();
  send usr2;
  int "the other one" usr2 (Promise.await other);
  let p = Signal.once [ usr1 ] in
  Promise.fail p Exit;
  raises "its failure" Exit (fun () -> Promise.await p);
  is_restored ()

let ignored_before () =
  with_handler usr1 Signal_ignore @@ fun () ->
  let p = Signal.once [ usr1 ] in
  send usr1;
  int "which" usr1 (Promise.await p);
  send usr1;
  yes "ignored again" (Sys.signal usr1 Signal_ignore = Signal_ignore)

(* By default SIGWINCH does nothing. This must still hold when it is no longer caught. *)
let default_before () =
  let p = Signal.once [ 28 ] in
  send 28;
  ignore (Promise.await p : int);
  send 28

let replaced () =
  let p = Signal.once [ usr1 ] in
  Sys.set_signal usr1 (Signal_handle handle);
  is_restored ();
  no "pending" (Promise.is_resolved p);
  Promise.fill p 0;
  is_restored ();
  let p = Signal.once [ usr1 ] in
  send usr1;
  int "caught again" usr1 (Promise.await p);
  is_restored ()

(* The signal must not interrupt a system call that sleeps. *)
let restarts () =
  let to_read, to_write = Unix.pipe ~cloexec:true () in
  let p = Signal.once [ usr1 ] in
  let join =
    thread (fun () ->
        send usr1;
        ignore (Promise.await p : int);
        ignore (Unix.write_substring to_write "x" 0 1 : int))
  in
  int "read" 1 (Unix.read to_read (Bytes.create 1) 0 1);
  join ();
  List.iter Unix.close [ to_read; to_write ]

let named_ () =
  let p = Signal.once [ usr1; usr2 ] in
  let join =
    Tools.Debug.keep_waits ();
    thread (fun () -> ignore (Promise.await p : int))
  in
  eventually "it waits" (fun () -> Promise.waiters p >= 2);
  let report = Tools.Debug.(to_string (report ())) in
  Promise.fill p 0;
  join ();
  yes report (contains report "SIGUSR1 or SIGUSR2")

let refuses what names f =
  match f () with
  | (_ : int Promise.t) -> Alcotest.failf "%s is not refused" what
  | exception Invalid_argument text ->
      List.iter (fun name -> yes text (contains text name)) names

let bad_input () =
  refuses "nothing" [ "Signal.once"; "list of signals is empty" ] (fun () ->
      Signal.once []);
  List.iter
    (fun signal ->
      refuses (string_of_int signal)
        [ "Signal.once"; string_of_int signal ]
        (fun () -> Signal.once [ usr1; signal ]))
    [
      0;
      9;
      19;
      32;
      65;
      1000;
      max_int;
      min_int;
      -1000;
      Sys.sigkill;
      Sys.sigstop;
      Sys.sigsegv;
      Sys.sigbus;
      Sys.sigfpe;
      Sys.sigill;
    ];
  List.iter
    (fun (signal, name) ->
      refuses name [ name ] (fun () -> Signal.once [ signal ]))
    [
      (Sys.sigkill, "wait for SIGKILL (");
      (9, "wait for SIGKILL (");
      (Sys.sigstop, "wait for SIGSTOP (");
      (Sys.sigsegv, "wait for SIGSEGV (");
      (Sys.sigfpe, "wait for SIGFPE (");
      (0, "wait for signal 0");
      (1000, "wait for signal 1000");
      (max_int, Printf.sprintf "wait for signal %d" max_int);
      (min_int, Printf.sprintf "wait for signal %d" min_int);
    ];
  is_restored ();
  match Signal.with_watch Sys.sigkill ignore with
  | () -> Alcotest.fail "SIGKILL is not refused"
  | exception Invalid_argument text ->
      yes text (contains text "Signal.with_watch");
      yes text (contains text "SIGKILL")

(* --- Every ------------------------------------------------------------------ *)

let counts () =
  let watch =
    Signal.with_watch usr1 @@ fun count ->
    let rec wait n seen =
      if n < 20 then begin
        send usr1;
        let now, seen = Watch.changed count ~since:seen in
        int "how many" (n + 1) now;
        wait (n + 1) seen
      end
    in
    wait 0 (snd (Watch.read count));
    count
  in
  yes "closed" (Watch.is_closed watch);
  int "none was passed on" 0 (Atomic.get handled);
  is_restored ()

let watch_raises () =
  raises "its exception" Exit (fun () ->
      Signal.with_watch usr1 (fun _ -> raise Exit));
  is_restored ()

let watch_and_once () =
  Signal.with_watch usr1 (fun count ->
      let _, seen = Watch.read count in
      let p = Signal.once [ usr1 ] in
      send usr1;
      int "once" usr1 (Promise.await p);
      let now, seen = Watch.changed count ~since:seen in
      int "the watch" 1 now;
      send usr1;
      int "alone" 2 (fst (Watch.changed count ~since:seen)));
  is_restored ()

exception Tick

let watch_and_handlers () =
  let count = ref 0 in
  let ends = Unix.gettimeofday () +. 0.5 in
  Interrupting.run ~by:Tick ~count (fun () ->
      while Unix.gettimeofday () < ends do
        Signal.with_watch usr1 (fun _ ->
            for i = 1 to 20 do
              ignore (Sys.opaque_identity (ref i) : int ref)
            done)
      done);
  yes "handlers raised" (!count > 0);
  is_restored ()

let once_outlives_watch () =
  let p = Signal.with_watch usr1 (fun _ -> Signal.once [ usr1 ]) in
  send usr1;
  int "once" usr1 (Promise.await p);
  is_restored ()

(* --- The handler, without a reader -------------------------------------------- *)

(* Without a reader, the second signal goes to the program's own handler. So it ends a
   program in which no thread runs. *)
let without_reader () =
  (* The pipe belongs to the module, and exists after its first use. *)
  Promise.fill (Signal.once [ usr1 ]) 0;
  let n = Option.get (Caught.number usr1) in
  let since = Option.get (Caught.catch Unix.stdin n ~every:false) in
  send usr1;
  eventually "counted" (fun () -> Caught.come n ~since = 1);
  int "not passed on" 0 (Atomic.get handled);
  send usr1;
  is_handled 1;
  int "not counted" 1 (Caught.come n ~since);
  Caught.release n since ~every:false;
  is_restored ()

(* --- Processes and domains ------------------------------------------------------ *)

let in_child f =
  match Unix.fork () with
  | 0 ->
      ignore (Unix.alarm 20 : int);
      Unix._exit (match f () with true -> 0 | false -> 1 | exception _ -> 2)
  | child -> snd (Unix.waitpid [] child)

let forked () =
  let p = Signal.once [ usr1; Sys.sigterm ] in
  yes "the default of its parent"
    (in_child (fun () ->
         Unix.kill (Unix.getpid ()) Sys.sigterm;
         false)
    = WSIGNALED Sys.sigterm);
  yes "the handler of its parent"
    (in_child (fun () ->
         Unix.kill (Unix.getpid ()) usr1;
         is_handled 1;
         true)
    = WEXITED 0);
  yes "its own"
    (in_child (fun () ->
         let own = Signal.once [ usr1 ] in
         no "that of the parent" (Promise.is_resolved p);
         Promise.fill p 0;
         Unix.kill (Unix.getpid ()) usr1;
         int "it waits nevertheless" usr1 (Promise.await own);
         Unix.kill (Unix.getpid ()) usr1;
         is_handled 1;
         true)
    = WEXITED 0);
  yes "the signal that its parent waited for"
    (in_child (fun () ->
         ignore (Signal.once [ usr1 ] : int Promise.t);
         Unix.kill (Unix.getpid ()) Sys.sigterm;
         false)
    = WSIGNALED Sys.sigterm);
  no "the parent's promise is pending" (Promise.is_resolved p);
  send usr1;
  int "its own signal" usr1 (Promise.await p);
  is_restored ()

(* The only other thread is the reader, which blocks all signals. *)
let masked () =
  let blocked =
    in_child (fun () ->
        let mask = Thread.sigmask SIG_BLOCK [ usr1 ] in
        let p = Signal.once [ usr1 ] in
        Unix.kill (Unix.getpid ()) usr1;
        let is_pending =
          List.mem usr1 (Unix.sigpending ()) && not (Promise.is_resolved p)
        in
        ignore (Thread.sigmask SIG_SETMASK mask : int list);
        is_pending && Promise.await p = usr1)
  in
  yes "pending until a thread lets it pass" (blocked = WEXITED 0)

let reader_ends () =
  let before = Concord_test_proc.threads () in
  let first = Signal.once [ usr1 ] and second = Signal.once [ usr2 ] in
  eventually "one thread" (fun () ->
      Concord_test_proc.threads () = before + 1
      || not Concord_test_proc.is_there);
  Promise.fill first 0;
  Promise.fill second 0;
  eventually "none" (fun () -> Concord_test_proc.threads () = before)

let pending_in_domain () =
  let p = in_domain (fun () -> Signal.once [ usr1 ]) in
  send usr1;
  int "the domain has ended" usr1 (Promise.await p);
  is_restored ()

(* Several threads create and withdraw promises while one thread waits. *)
let racing in_place () =
  let stop = Atomic.make false in
  let come_and_go () =
    while not (Atomic.get stop) do
      let p = Signal.once [ usr1; usr2 ] in
      ignore (Promise.try_fill p 0 : bool);
      Thread.yield ()
    done
  in
  let joins = List.init 2 (fun _ -> in_place come_and_go) in
  for _ = 1 to 200 do
    let p = Signal.once [ usr1 ] in
    send usr1;
    int "which" usr1 (Promise.await p)
  done;
  Atomic.set stop true;
  List.iter (fun join -> join ()) joins;
  int "none was passed on" 0 (Atomic.get handled);
  is_restored ()

let many () =
  let promises = List.init 1000 (fun _ -> Signal.once [ usr1 ]) in
  send usr1;
  List.iter (fun p -> int "which" usr1 (Promise.await p)) promises;
  is_restored ()

(* --- Why OCaml's handlers are not enough ------------------------------------------ *)

(* If this fails, OCaml runs handlers while all threads wait. Then a promise that a handler
   fills would be enough. The first signals may come before the thread sleeps. *)
let naive () =
  Stopping.with_child "./stopped.exe" "naive" "thread" @@ fun child ->
  Stopping.says child "ready";
  let input = Unix.descr_of_in_channel child.output in
  let sleeps () =
    List.mem "State:\tS (sleeping)"
      (Concord_test_proc.lines (Printf.sprintf "%d/status" child.pid))
  in
  let rec is_heard n =
    n = 0
    || begin
      eventually "it sleeps" sleeps;
      Stopping.send child Sys.sigterm;
      match Unix.select [ input ] [] [] 0.2 with
      | [], _, _ -> false
      | _ ->
          Stopping.says child "heard";
          is_heard (n - 1)
    end
  in
  no "it hears all" (is_heard 10)

let () =
  Random.self_init ();
  let test name f = test name (usr1_handled f) in
  run "signals"
    ([
       (* This comes first, because the reader of another test might be about to end. *)
       ("the reader", [ test "it ends" reader_ends ]);
       (* This comes second, because OCaml can't fork after a domain was spawned. *)
       ("fork", [ test "a child" forked; test "blocked by all" masked ]);
       ( "once",
         [
           test "it comes" fills;
           test "the system's number" system_number;
           test "twice in the list" twice_in_the_list;
           test "several promises" overlapping;
           test "one after another" one_after_another;
           test "given up" given_up;
           test "ignored before" ignored_before;
           test "the default before" default_before;
           test "replaced by the program" replaced;
           test "system calls" restarts;
           test "in reports" named_;
           test "bad input" bad_input;
           test "many" many;
         ] );
       ( "every",
         [
           test "counted" counts;
           test "it raises" watch_raises;
           test "beside a promise" watch_and_once;
           test "before a promise" once_outlives_watch;
         ]
         @ Interrupting.only (test "handlers that raise" watch_and_handlers) );
       ( "the handler",
         test "no reader" without_reader
         :: Concord_test_proc.only "whether a process sleeps"
              [ test "OCaml's does not run while all threads wait" naive ] );
       ( "at once",
         [
           test "threads" (racing thread);
           test "domains" (racing domain);
           test "from a domain that ends" pending_in_domain;
         ] );
     ]
    @ List.map (Stopping.cases "./stopped.exe") [ "thread"; "fifo"; "domain" ])
