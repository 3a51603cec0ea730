(* Deferreds in a choice, Async's spans and pipes. *)

open Concord
open Concord_test_support
open Check
open In_async
module Pipe = Async.Pipe
module Ivar = Async.Ivar
module Monitor = Async.Monitor

let turn = Async.Scheduler.yield_until_no_jobs_remain

let until what condition =
  let deadline = Unix.gettimeofday () +. 20. in
  let rec look () =
    if condition () then Deferred.return ()
    else if Unix.gettimeofday () > deadline then
      Alcotest.failf "it never happened: %s" what
    else
      let* () = Async.Scheduler.yield () in
      look ()
  in
  look ()

(* --- determined ----------------------------------------------------------- *)

let choose box deferred =
  A.select
    [
      Event.wrap (Mvar.take_evt box) (fun v -> `Taken v);
      Event.wrap (A.determined deferred) (fun v -> `Determined v);
    ]

(* Each of the two alternatives is chosen once. The other one remains as if it had not been
   there. *)
let determined () =
  async @@ fun () ->
  let box = Mvar.create_empty () and ivar = Ivar.create () in
  let chosen = choose box (Ivar.read ivar) in
  int "it waits" 1 (Mvar.waiters box);
  Ivar.fill_exn ivar 1;
  let* result = chosen in
  yes "determined" (result = `Determined 1);
  int "withdrawn" 0 (Mvar.waiters box);
  Mvar.put box 2;
  no "not taken" (Mvar.is_empty box);
  let* result = choose box (Deferred.never ()) in
  yes "taken" (result = `Taken 2);
  let ivar = Ivar.create () in
  let chosen = choose box (Ivar.read ivar) in
  let* () = in_domain (fun f -> f ()) (fun () -> Mvar.put box 3) in
  let* result = chosen in
  yes "taken from a domain" (result = `Taken 3);
  no "no handler is left" (Ivar.has_handlers ivar);
  let* result = choose box (Deferred.return 4) in
  yes "determined before" (result = `Determined 4);
  Deferred.return ()

(* A long-lived deferred keeps nothing of the choices in which it wasn't chosen. *)
let no_leak () =
  async @@ fun () ->
  let stop = Ivar.create () and box = Mvar.create_empty () in
  let rec go n =
    if n = 0 then Deferred.return ()
    else begin
      let chosen = choose box (Ivar.read stop) in
      Mvar.put box n;
      let* _ = chosen in
      go (n - 1)
    end
  in
  let* () = go 1_000 in
  let* () = turn () in
  no "no handler is left" (Ivar.has_handlers stop);
  Deferred.return ()

let determined_elsewhere () =
  async @@ fun () ->
  in_domain (fun f -> f ()) @@ fun () ->
  match Event.sync (A.determined (Deferred.return ())) with
  | () -> Alcotest.fail "it is not refused"
  | exception Invalid_argument _ -> ()

(* --- Spans ---------------------------------------------------------------- *)

let spans () =
  async @@ fun () ->
  let box = Mvar.create_empty () in
  let soon = Core.Time_float.Span.of_sec 0.002
  and soon_ns = Core.Time_ns.Span.of_ms 2. in
  let* first = A.Clock.with_timeout soon (Mvar.take_evt box) in
  yes "too late" (first = `Timeout);
  let* second = A.Clock_ns.with_timeout soon_ns (Mvar.take_evt box) in
  yes "too late" (second = `Timeout);
  int "withdrawn" 0 (Mvar.waiters box);
  Mvar.put box 1;
  let* third = A.Clock.with_timeout soon (Mvar.take_evt box) in
  yes "in time" (third = `Result 1);
  Mvar.put box 2;
  let* fourth = A.Clock_ns.with_timeout soon_ns (Mvar.take_evt box) in
  yes "in time" (fourth = `Result 2);
  let* () = A.select [ A.Clock.timeout soon; Event.never ] in
  A.select [ A.Clock_ns.timeout soon_ns; Event.never ]

(* --- Pipes ---------------------------------------------------------------- *)

let to_pipe () =
  async @@ fun () ->
  let m = Stream.create 1 in
  let reader = A.to_pipe (Stream.take_evt m) in
  let* () =
    in_domain Concord_fifo.run (fun () ->
        List.iter (Stream.add m) [ 1; 2 ];
        (* The pipe is one item ahead of its reader, which has not read yet. *)
        eventually "the pipe has one" (fun () -> Stream.length m = 1);
        no "and no more" (Stream.try_add m 3))
  in
  let added =
    in_domain Concord_fifo.run (fun () ->
        List.iter (Stream.add m) [ 3; 4 ];
        Stream.close m)
  in
  let* all = Pipe.to_list reader in
  let* () = added in
  yes "all, and the end" (all = [ 1; 2; 3; 4 ]);
  Deferred.return ()

let to_pipe_closed () =
  async @@ fun () ->
  let m : int Mailbox.t = Mailbox.create () in
  let reader = A.to_pipe (Mailbox.take_evt m) in
  let* () = turn () in
  int "it waits" 1 (Mailbox.waiters m);
  Pipe.close_read reader;
  let* () = until "it is withdrawn" (fun () -> Mailbox.waiters m = 0) in
  Mailbox.add m 1;
  int "not taken" 1 (Mailbox.length m);
  Deferred.return ()

let feed () =
  async @@ fun () ->
  let m = Stream.create 2 in
  let fed = A.feed m (Pipe.of_list [ 1; 2; 3; 4 ]) in
  let* () = until "it is full" (fun () -> Stream.length m = 2) in
  let taken = ref [] in
  let* () =
    in_domain Concord_fifo.run (fun () ->
        try
          while true do
            taken := Stream.take m :: !taken
          done
        with Stream.Closed -> ())
  in
  let* () = fed in
  yes "all, and the end" (!taken = [ 4; 3; 2; 1 ]);
  (* The reader closes it. *)
  let m = Stream.create 1 in
  let reader, writer = Pipe.create () in
  Pipe.write_without_pushback writer 1;
  Pipe.write_without_pushback writer 2;
  let fed = A.feed m reader in
  let* () = until "it waits" (fun () -> Stream.waiters m = 1) in
  Stream.close m;
  let* () = fed in
  yes "the pipe is closed" (Pipe.is_closed writer);
  int "what was added" 1 (Stream.take m);
  Deferred.return ()

let tests =
  [
    ( "deferreds as events",
      [
        test "either" determined;
        test "nothing is left" no_leak;
        test "elsewhere" determined_elsewhere;
        test "spans" spans;
      ] );
    ( "flows",
      [
        test "into a pipe" to_pipe;
        test "into a pipe that is closed" to_pipe_closed;
        test "from a pipe" feed;
      ] );
  ]
