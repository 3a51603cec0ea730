(* What the system said about a descriptor earlier counts for nobody who waits later. *)

open Concord
open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo
module Multiplexer = Concord_aio__Multiplexer
module Ring = Concord_aio__Ring

(* --- Answers of a ring ------------------------------------------------------ *)

let with_ring f () =
  match Ring.create () with
  | None -> print_endline "not tested, because there is no io_uring"
  | Some ring -> f ring

let reads (ring : Multiplexer.t) fd = ring.set fd ~read:true ~write:false
let forgets (ring : Multiplexer.t) fd = ring.set fd ~read:false ~write:false

(* Takes the answers that have come from the kernel, without returning them. *)
let collect (ring : Multiplexer.t) =
  with_pipe @@ fun from to_ ->
  reads ring from;
  forgets ring from;
  ring.settle ();
  List.iter Unix.close [ from; to_ ]

let found (ring : Multiplexer.t) = List.length (ring.wait ~block:false)

(* A pipe whose answer has been taken, and not returned. *)
let answered ring f =
  with_pipe @@ fun from to_ ->
  reads ring from;
  int "nothing yet" 0 (found ring);
  put to_ "x";
  collect ring;
  f from to_

let returned ring =
  answered ring @@ fun from to_ ->
  reads ring from;
  int "found" 1 (found ring);
  int "once" 0 (found ring);
  reads ring from;
  int "found again" 1 (found ring);
  forgets ring from;
  List.iter Unix.close [ from; to_ ]

let returned_for_writing (ring : Multiplexer.t) =
  with_pipe @@ fun from to_ ->
  for _ = 1 to 3 do
    ring.set to_ ~read:false ~write:true;
    int "found" 1 (found ring);
    int "once" 0 (found ring)
  done;
  forgets ring to_;
  List.iter Unix.close [ from; to_ ]

let of_another_file ring =
  answered ring @@ fun from to_ ->
  forgets ring from;
  ring.settle ();
  List.iter Unix.close [ from; to_ ];
  with_pipe @@ fun again to_again ->
  yes "the same number" (again = from);
  reads ring again;
  int "found" 0 (found ring);
  put to_again "x";
  int "found now" 1 (found ring);
  forgets ring again;
  List.iter Unix.close [ again; to_again ]

let of_another_wait ring =
  answered ring @@ fun from to_ ->
  forgets ring from;
  strings "read" [ "x" ] [ get from ];
  reads ring from;
  int "found" 0 (found ring);
  put to_ "y";
  int "found now" 1 (found ring);
  forgets ring from;
  List.iter Unix.close [ from; to_ ]

let of_another_direction ring =
  let here, there = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  reads ring here;
  int "nothing yet" 0 (found ring);
  put there "x";
  collect ring;
  ring.set here ~read:false ~write:true;
  (match ring.wait ~block:false with
  | [ (_, { read = false; write = true; closed = false }) ] -> ()
  | _ -> Alcotest.fail "another answer");
  forgets ring here;
  List.iter Unix.close [ here; there ]

(* --- Connecting ------------------------------------------------------------- *)

(* Its queue is full, so that a further attempt to connect stays in progress. *)
let with_full_listener f =
  let listener = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.bind listener loopback;
  Unix.listen listener 0;
  let address = Unix.getsockname listener in
  let connect _ =
    let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
    Unix.set_nonblock fd;
    (try Unix.connect fd address
     with Unix.Unix_error (EINPROGRESS, _, _) -> ());
    fd
  in
  let fill = List.init 4 connect in
  f connect address;
  List.iter Unix.close (listener :: fill)

let is_connected () =
  let is_connected = Concord_aio__Readiness.is_connected in
  with_full_listener (fun connect _ ->
      let fd = connect () in
      no "in progress" (is_connected fd);
      Unix.close fd);
  let listener, address = listening () in
  let fd = client address in
  yes "connected" (is_connected fd);
  Unix.close fd;
  Unix.close listener;
  let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.set_nonblock fd;
  (try Unix.connect fd address with Unix.Unix_error _ -> ());
  let error e = Unix.Unix_error (e, "connect", "") in
  eventually "it was refused" (fun () ->
      match is_connected fd with
      | connected -> connected
      | exception e -> e = error ECONNREFUSED || e = error ENOTCONN);
  raises "the error is given once" (error ENOTCONN) (fun () -> is_connected fd);
  Unix.close fd

(* A descriptor has become ready, and the loop learns that while another one is closed. Then the
   first one is closed, and a socket gets its number. *)
let connect () =
  Aio.run @@ fun () ->
  with_full_listener @@ fun _ address ->
  let pair () = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  let first, first' = pair () and second, second' = pair () in
  let read fd =
    Fifo.fork (fun () ->
        match get fd with
        | _ -> ()
        | exception Unix.Unix_error (EBADF, _, _) -> ())
  in
  let tasks = [ read first; read second ] in
  until_waiting 2;
  Unix.close first';
  Aio.close second;
  Aio.close first;
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  yes "the same number" (socket = first);
  let connected = ref false in
  let connecting =
    Fifo.fork (fun () ->
        Aio.connect socket address;
        connected := true)
  in
  (* The loop polls several times meanwhile. *)
  for _ = 1 to 1000 do
    Fifo.yield ()
  done;
  no "connected" !connected;
  until_waiting 1;
  Fifo.cancel connecting;
  List.iter Fifo.join (connecting :: tasks);
  Aio.close socket;
  Unix.close second'

(* --- Events ----------------------------------------------------------------- *)

(* Both tasks are resumed for one byte, and the first one reads it. *)
let read_by_another run () =
  run @@ fun () ->
  with_pipe @@ fun from to_ ->
  Unix.set_nonblock from;
  let got = ref 0 in
  let wait () =
    Event.sync (Aio.readable_evt from);
    int "read" 1 (Unix.read from (Bytes.create 1) 0 1);
    incr got
  in
  let tasks = [ Fifo.fork wait; Fifo.fork wait ] in
  until_waiting 2;
  put to_ "x";
  eventually "one" ~pause (fun () -> !got = 1);
  until_waiting 1;
  put to_ "y";
  List.iter Fifo.join tasks;
  int "both" 2 !got;
  List.iter Aio.close [ from; to_ ]

(* The same on a standard descriptor, where a read that is too early blocks the thread. *)
let read_by_another_of_standard () =
  with_pipe @@ fun from to_ ->
  as_standard Unix.stdin from @@ fun () ->
  Aio.run @@ fun () ->
  let got = ref 0 in
  let read () =
    int "read" 1 (Aio.read Unix.stdin (Bytes.create 1) 0 1);
    incr got
  in
  let tasks = [ Fifo.fork read; Fifo.fork read ] in
  until_waiting 2;
  put to_ "x";
  (* If the loop is blocked, this lets it continue, too late for the first check. *)
  let is_over = Atomic.make false in
  let join =
    thread (fun () ->
        let until = Unix.gettimeofday () +. 10. in
        while (not (Atomic.get is_over)) && Unix.gettimeofday () < until do
          Thread.delay 0.001
        done;
        put to_ "y")
  in
  eventually "one" ~pause (fun () -> !got > 0);
  int "one" 1 !got;
  until_waiting 1;
  Atomic.set is_over true;
  List.iter Fifo.join tasks;
  join ();
  List.iter Unix.close [ from; to_ ]

(* --- Numbers that were sockets ------------------------------------------------ *)

let sockets () = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0
let close_all = List.iter Unix.close

(* The number of [from] belongs to a pipe, a socket and a pipe again, and the operations don't
   hear of the changes. *)
let another_kind () =
  with_pipe @@ fun from to_ ->
  let here, there = sockets () and kept = Unix.dup from in
  Aio.run (fun () ->
      let passes out text =
        put out text;
        let got = Bytes.create 10 in
        let n = Aio.read from got 0 10 in
        strings "the bytes" [ text ] [ Bytes.sub_string got 0 n ]
      in
      passes to_ "pipe";
      Unix.dup2 here from;
      passes there "socket";
      Unix.dup2 kept from;
      passes to_ "a pipe");
  close_all [ from; to_; here; there; kept ]

(* The socket takes a part of the bytes at once. *)
let in_parts () =
  let here, there = sockets () in
  let text = Bytes.init 3_000_000 (fun i -> Char.chr (i land 255)) in
  let got = Buffer.create 3_000_000 and part = Bytes.create 100_000 in
  Aio.run (fun () ->
      let rec read () =
        let n = Aio.read there part 0 (Bytes.length part) in
        Buffer.add_subbytes got part 0 n;
        if n > 0 then read ()
      in
      let reader = Fifo.fork read in
      int "all" 3_000_000 (Aio.write here text 0 3_000_000);
      Aio.close here;
      Fifo.join reader);
  yes "the same" (Bytes.equal text (Buffer.to_bytes got));
  Unix.close there

(* What is left of a write doesn't go to another file that has got the number. *)
let rest_to_another () =
  let here, there = sockets () in
  let text = Bytes.make 3_000_000 'x' in
  Aio.run (fun () ->
      let write () =
        match Aio.write here text 0 (Bytes.length text) with
        | _ -> Alcotest.fail "all was written"
        | exception Unix.Unix_error (EBADF, _, _) -> ()
      in
      let writer = Fifo.fork write in
      until_waiting 1;
      Aio.close here;
      Fifo.join writer);
  Unix.close there

let () =
  Check.run "aio: stale"
    [
      ( "ring",
        [
          test "returned" (with_ring returned);
          test "returned for writing" (with_ring returned_for_writing);
          test "of another file" (with_ring of_another_file);
          test "of another wait" (with_ring of_another_wait);
          test "of another direction" (with_ring of_another_direction);
        ] );
      ("connect", [ test "is connected" is_connected; test "in run" connect ]);
      ( "readable_evt",
        [
          test "in run" (read_by_another Aio.run);
          test "in a fifo" (read_by_another (fun f -> Fifo.run f));
          test "read of stdin" read_by_another_of_standard;
        ] );
      ( "sockets",
        [
          test "another kind" another_kind;
          test "in parts" in_parts;
          test "closed between parts" rest_to_another;
        ] );
    ]
