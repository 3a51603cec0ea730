(* [read_evt] and [single_write_evt]. *)

open Concord
open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

let read fd =
  let b = Bytes.create 100 in
  Event.wrap (Aio.read_evt fd b 0 100) (Bytes.sub_string b 0)

let write fd s = Aio.single_write_substring_evt fd s 0 (String.length s)

(* Without waiting, so that [Event.poll] is always [None] afterwards. *)
let rec write_all fd s written =
  match Event.poll (write fd s) with
  | Some n -> write_all fd s (written + n)
  | None -> written

let read_or_not fd =
  Event.(
    select [ wrap (read fd) Option.some; wrap (timeout 0.01) (fun () -> None) ])

let with_stdin f =
  with_pipe @@ fun from to_ ->
  as_standard Unix.stdin from (fun () -> f Unix.stdin to_);
  Unix.close from

let with_socket f =
  let from, to_ = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  f from to_

let on_descriptors name f =
  let on kind with_ =
    test (Printf.sprintf "%s, of a %s" name kind) (fun () ->
        Aio.run @@ fun () ->
        with_ @@ fun from to_ ->
        f from to_;
        if from <> Unix.stdin then Aio.close from;
        Aio.close to_)
  in
  [ on "pipe" with_pipe; on "socket" with_socket; on "standard" with_stdin ]

(* What loses has read nothing. *)
let loses from to_ =
  yes "nothing" (read_or_not from = None);
  put to_ "abc";
  yes "abc" (Event.poll (read from) = Some "abc");
  yes "nothing again" (Event.poll (read from) = None);
  let reader = Fifo.fork (fun () -> ignore (Event.sync (read from) : string)) in
  Fifo.yield ();
  Fifo.cancel reader;
  Fifo.join reader;
  put to_ "d";
  strings "d" [ "d" ] [ Event.sync (read from) ];
  until_waiting 0

(* Two tasks wait for one byte, alone or in a choice. One gets it, and the other continues to
   wait. *)
let two_that wait to_ =
  let got = ref [] in
  let wait () =
    let byte = wait () in
    got := byte :: !got
  in
  let tasks = [ Fifo.fork wait; Fifo.fork wait ] in
  put to_ "x";
  eventually "one" ~pause (fun () -> !got = [ "x" ]);
  until_waiting 1;
  put to_ "y";
  List.iter Fifo.join tasks;
  strings "both" [ "y"; "x" ] !got

let of_two from to_ =
  two_that (fun () -> Event.sync (read from)) to_;
  two_that (fun () -> Event.(select [ read from; never ])) to_

let ends from to_ =
  let other = Unix.dup ~cloexec:true to_ in
  let reader = Fifo.fork_promise (fun () -> Event.sync (read from)) in
  Fifo.yield ();
  Aio.close to_;
  Unix.shutdown other SHUTDOWN_SEND;
  strings "the end" [ "" ] [ Promise.await reader ];
  strings "it stays" [ "" ] [ Event.sync (read from) ];
  Aio.close other;
  Aio.close from

let closed from to_ =
  let reader = Fifo.fork_promise (fun () -> Event.sync (read from)) in
  until_waiting 1;
  Aio.close from;
  yes "closed" (is_closed (fun () -> Promise.await reader));
  yes "still" (is_closed (fun () -> Event.sync (read from)));
  Aio.close to_

(* A write that loses has written nothing. It waits until there is room. *)
let writes from to_ =
  let text = String.make 10_000 'x' in
  let written = write_all to_ text 0 in
  yes "some" (written > 0);
  let late =
    Event.(
      select
        [
          wrap (write to_ text) Option.some;
          wrap (timeout 0.01) (fun () -> None);
        ])
  in
  yes "no room" (late = None);
  let writer = Fifo.fork_promise (fun () -> Event.sync (write to_ text)) in
  until_waiting 1;
  let buffer = Bytes.create 65536 in
  let rec drain total =
    match Event.(poll (Aio.read_evt from buffer 0 65536)) with
    | Some n -> drain (total + n)
    | None when Promise.is_resolved writer -> total
    | None ->
        pause ();
        drain total
  in
  let total = drain 0 in
  int "all of it" (written + Promise.await writer) total

(* Other processes have the terminal too, so it must stay blocking. *)
let stays_blocking () =
  Aio.run @@ fun () ->
  with_stdin @@ fun stdin to_ ->
  yes "nothing" (read_or_not stdin = None);
  put to_ "x";
  strings "x" [ "x" ] [ Event.sync (read stdin) ];
  let flags =
    In_channel.with_open_bin "/proc/self/fdinfo/0" @@ fun ic ->
    List.find_map
      (fun line ->
        try Scanf.sscanf line "flags: 0%o" Option.some
        with Scanf.Scan_failure _ | End_of_file | Failure _ -> None)
      (In_channel.input_lines ic)
  in
  Option.iter (fun flags -> int "O_NONBLOCK" 0 (flags land 0o4000)) flags;
  Aio.close to_

let file () =
  temp @@ fun name ->
  Aio.run @@ fun () ->
  let fd = Unix.openfile name [ O_RDWR; O_CLOEXEC ] 0 in
  int "written" 3 (Event.sync (write fd "abc"));
  ignore (Unix.lseek fd 0 SEEK_SET : int);
  strings "read" [ "abc" ] [ Event.sync (read fd) ];
  strings "the end" [ "" ] [ Event.sync (read fd) ];
  Aio.close fd

let range () =
  let invalid name f =
    raises name (Invalid_argument ("Concord_aio." ^ name)) f
  in
  invalid "read_evt" (fun () -> Aio.read_evt Unix.stdin (Bytes.create 3) 1 3);
  invalid "single_write_evt" (fun () ->
      Aio.single_write_evt Unix.stdin (Bytes.create 3) (-1) 1);
  invalid "single_write_substring_evt" (fun () ->
      Aio.single_write_substring_evt Unix.stdin "abc" 0 4)

let cases =
  on_descriptors "read_evt, loses" loses
  @ on_descriptors "read_evt, of two" of_two
  @ on_descriptors "single_write_evt" writes
  @ [
      test "read_evt, the end" (fun () -> Aio.run (fun () -> with_socket ends));
      test "read_evt, closed" (fun () -> Aio.run (fun () -> with_pipe closed));
      test "read_evt, stays blocking" stays_blocking;
      test "events of a file" file;
      test "events, range" range;
    ]
