(* [close_out] beside tasks that use the channel. *)

open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

let closed = Sys_error "Bad file descriptor"

let with_channel f =
  let here, there = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  Unix.set_nonblock there;
  f (Aio.out_channel_of_descr here) there;
  Unix.close there

let is_closed oc =
  match Unix.fstat (Aio.descr_of_out_channel oc) with
  | (_ : Unix.stats) -> false
  | exception Unix.Unix_error (EBADF, _, _) -> true

(* More than the system takes. *)
let text = String.init 4_000_000 (fun i -> Char.chr (i land 255))

(* In a socket, positions count from -1. *)
let position oc =
  let first =
    if (Unix.fstat (Aio.descr_of_out_channel oc)).st_kind = S_REG then 0 else -1
  in
  Aio.pos_out oc - first

(* What is there to be read now. *)
let received fd =
  let b = Bytes.create 65536 and all = Buffer.create 1000 in
  let rec read () =
    match Unix.read fd b 0 65536 with
    | 0 -> ()
    | n ->
        Buffer.add_subbytes all b 0 n;
        read ()
    | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()
  in
  read ();
  Buffer.contents all

let starts_text s = s = String.sub text 0 (String.length s)

let reports_loss f =
  match f () with
  | () -> Alcotest.fail "it returned"
  | exception Sys_error e ->
      yes e (contains e "Concord_aio.close_out: ");
      yes e (contains e " bytes were not written")

let writes =
  [
    ("output", fun oc -> Aio.output_string oc text);
    ( "flush",
      fun oc ->
        (* Fills the socket. *)
        let fd = Aio.descr_of_out_channel oc in
        Unix.set_nonblock fd;
        let rec fill pos =
          match Unix.single_write_substring fd text pos 65536 with
          | n -> fill (pos + n)
          | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> pos
        in
        let pos = fill 0 in
        Aio.output_substring oc text pos 1000;
        Aio.flush oc );
  ]

(* The peer reads nothing. A further task waits for the lock. *)
let peer_never_reads write run () =
  with_channel @@ fun oc peer ->
  let join =
    thread (fun () -> raises "it writes" closed (fun () -> write oc))
  in
  run (fun () ->
      until_waiting 1;
      let join_next =
        thread (fun () ->
            raises "it is next" closed (fun () -> Aio.output_char oc 'x'))
      in
      reports_loss (fun () -> Aio.close_out oc);
      yes "closed" (is_closed oc);
      Aio.close_out oc;
      join_next ());
  join ();
  yes "what was sent" (starts_text (received peer))

(* The peer has read just before. So all that is in the buffer is written. *)
let peer_has_read () =
  with_channel @@ fun oc peer ->
  Aio.run @@ fun () ->
  let writer =
    Fifo.fork (fun () ->
        raises "it writes" closed (fun () -> Aio.output_string oc text))
  in
  until_waiting 1;
  let first = received peer in
  let written = position oc in
  Aio.close_out oc;
  yes "closed" (is_closed oc);
  Fifo.join writer;
  let all = first ^ received peer in
  int "all of the buffer" written (String.length all);
  yes "the text" (starts_text all)

(* One task waits in [close_out], and the peer reads later. *)
let closed_twice () =
  with_channel @@ fun oc peer ->
  Aio.run @@ fun () ->
  let fd = Aio.descr_of_out_channel oc in
  let fill =
    Fifo.fork (fun () ->
        try Aio.output_string oc text with Fifo.Cancelled -> ())
  in
  until_waiting 1;
  Fifo.cancel fill;
  Fifo.join fill;
  let written = position oc in
  let closing = Fifo.fork (fun () -> Aio.close_out oc) in
  until_waiting 1;
  Aio.close_out oc;
  raises "another task" closed (fun () -> Aio.output_char oc 'x');
  ignore (Unix.fstat fd : Unix.stats);
  let all = Buffer.create 1000 in
  eventually "all of it" ~pause (fun () ->
      Buffer.add_string all (received peer);
      Buffer.length all = written);
  Fifo.join closing;
  yes "closed" (is_closed oc);
  yes "the text" (starts_text (Buffer.contents all))

(* Nothing has to wait, so a cancelled task writes everything. One of these operations would
   let other tasks run. *)
let cancelled () =
  Aio.run @@ fun () ->
  let written = ref 0 in
  let task =
    Fifo.fork (fun () ->
        (try Concord.Event.sync Concord.Event.never with Fifo.Cancelled -> ());
        for _ = 1 to 300 do
          with_channel @@ fun oc peer ->
          Aio.output_string oc "text";
          Aio.close_out oc;
          strings "written" [ "text" ] [ received peer ];
          incr written
        done)
  in
  Fifo.yield ();
  Fifo.cancel task;
  Fifo.join task;
  int "written" 300 !written

(* A task that is cancelled while it waits for the peer closes the descriptor. *)
let cancelled_while_waiting () =
  with_channel @@ fun oc _ ->
  Aio.run @@ fun () ->
  let closing =
    Fifo.fork (fun () ->
        (try Aio.output_string oc text with Fifo.Cancelled -> ());
        Aio.close_out oc)
  in
  until_waiting 1;
  Fifo.cancel closing;
  Fifo.join closing;
  yes "closed" (is_closed oc)

(* A file never waits for a peer, so nothing is lost. *)
let file () =
  temp @@ fun name ->
  Aio.run @@ fun () ->
  for _ = 1 to 50 do
    let oc = Aio.open_out name in
    let writer =
      Fifo.fork (fun () ->
          try Aio.output_string oc text with Sys_error _ -> ())
    in
    Fifo.yield ();
    let written = position oc in
    Aio.close_out oc;
    Fifo.join writer;
    let all = In_channel.with_open_bin name In_channel.input_all in
    yes "at least" (String.length all >= written);
    yes "the text" (starts_text all)
  done

(* A standard descriptor may block, so it is asked before. *)
let full_standard () =
  with_pipe @@ fun from to_ ->
  Unix.set_nonblock to_;
  let b = Bytes.create 65536 in
  let rec fill () =
    match Unix.single_write to_ b 0 65536 with
    | (_ : int) -> fill ()
    | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()
  in
  fill ();
  Unix.clear_nonblock to_;
  let write () =
    Concord_aio__Io.with_ "write" Unix.stdin (fun io ->
        Concord_aio__Io.write_now io b 0 10)
  in
  (* If it blocks, this lets it continue. *)
  let is_over = Atomic.make false in
  let join =
    thread (fun () ->
        let until = Unix.gettimeofday () +. 10. in
        while (not (Atomic.get is_over)) && Unix.gettimeofday () < until do
          Thread.delay 0.001
        done;
        ignore (Unix.read from b 0 65536 : int))
  in
  let written = as_standard Unix.stdin to_ write in
  Atomic.set is_over true;
  join ();
  int "written" 0 written;
  int "written now" 10 (as_standard Unix.stdin to_ write);
  List.iter Unix.close [ from; to_ ]

let () =
  let in_each (name, write) =
    let never = peer_never_reads write in
    ( "the peer never reads: " ^ name,
      [
        test "run" (never Aio.run);
        test "fifo" (never (fun f -> Fifo.run f));
        test "thread" (never in_thread);
        test "eio" (never (fun f -> Eio_main.run (fun _ -> f ())));
      ] )
  in
  Check.run "aio: close_out"
    (List.map in_each writes
    @ [
        ( "other",
          [
            test "the peer has read" peer_has_read;
            test "closed twice" closed_twice;
            test "cancelled" cancelled;
            test "cancelled while waiting" cancelled_while_waiting;
            test "a file" file;
            test "a full standard descriptor" full_standard;
          ] );
      ])
