(* The effect of [close] on tasks that use the descriptor at that moment, on any host. *)

open Concord
open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

let closed = Sys_error "Bad file descriptor"

let places : (string * ((unit -> unit) -> unit)) list =
  [
    ("run", Aio.run);
    ("fifo", fun f -> Fifo.run f);
    ("thread", in_thread);
    ("domain", in_domain);
    ("eio", fun f -> Eio_main.run (fun _ -> f ()));
    ("eio in run", fun f -> Aio.run (fun () -> Eio_main.run (fun _ -> f ())));
  ]

let in_each name case =
  (name, List.map (fun (place, run) -> test place (case run)) places)

(* --- One descriptor --------------------------------------------------------- *)

(* Another domain begins to read just when the descriptor is closed. *)
let begins_to_read run () =
  let rounds =
    if instrumented then 300 else if Race.long then 5_000 else 1_000
  in
  let given = Atomic.make None and over = Atomic.make 0 in
  let read round from =
    yes "closed" (is_closed (fun () -> Aio.read from (Bytes.create 1) 0 1));
    Atomic.set over round
  in
  let rec serve () =
    match Atomic.get given with
    | Some (round, from) when round > Atomic.get over ->
        read round from;
        if round < rounds then serve ()
    | Some _ | None ->
        Domain.cpu_relax ();
        serve ()
  in
  let join = domain serve in
  run (fun () ->
      for round = 1 to rounds do
        with_pipe @@ fun from to_ ->
        Atomic.set given (Some (round, from));
        for _ = 1 to 37 * round mod 1000 do
          Domain.cpu_relax ()
        done;
        Aio.close from;
        eventually "the read ends" ~pause (fun () -> Atomic.get over = round);
        Unix.close to_
      done);
  join ()

(* Two tasks close it at the same time. Exactly one of them succeeds. *)
let closed_by_two () =
  let rounds =
    if instrumented then 300 else if Race.long then 3_000 else 1_000
  in
  let given = Atomic.make Unix.stdin and ready = Atomic.make 0 in
  let first = Atomic.make 0 in
  let close () =
    match Aio.close (Atomic.get given) with
    | () -> Atomic.incr first
    | exception Unix.Unix_error (EBADF, _, _) -> ()
  in
  let join =
    domain (fun () ->
        for round = 1 to rounds do
          while Atomic.get ready < (2 * round) - 1 do
            Domain.cpu_relax ()
          done;
          close ();
          Atomic.incr ready
        done)
  in
  for round = 1 to rounds do
    with_pipe @@ fun from to_ ->
    Atomic.set given from;
    Atomic.incr ready;
    close ();
    while Atomic.get ready < 2 * round do
      Domain.cpu_relax ()
    done;
    Unix.close to_
  done;
  join ();
  int "closed" rounds (Atomic.get first)

(* An operation that was requested earlier must reach the file that it was requested for. *)
let another_file () =
  temp @@ fun a ->
  temp @@ fun b ->
  Aio.run @@ fun () ->
  let text = String.make 200_000 'a' in
  for _ = 1 to 300 do
    let fd = Aio.openfile a [ O_WRONLY; O_TRUNC ] 0 in
    let writer =
      Fifo.fork (fun () ->
          match Aio.write_substring fd text 0 (String.length text) with
          | (_ : int) -> ()
          | exception Unix.Unix_error (EBADF, _, _) -> ())
    in
    Fifo.yield ();
    Aio.close fd;
    let other = Unix.openfile b [ O_WRONLY; O_CLOEXEC ] 0 in
    Fifo.join writer;
    int "bytes of the other file" 0 (Unix.fstat other).st_size;
    Unix.close other
  done

(* The system no longer uses the socket, so the port is free. *)
let listen_again run () =
  let rounds = 100 in
  let address = ref loopback in
  let listen () =
    let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
    Unix.bind fd !address;
    Unix.listen fd 10;
    address := Unix.getsockname fd;
    fd
  in
  run (fun () ->
      for round = 1 to rounds do
        let fd = listen () in
        let patience = if round land 1 = 0 then 0. else 0.0005 in
        let nobody =
          Event.(
            select
              [
                wrap (Aio.accept_evt fd) (fun _ -> false);
                wrap (timeout patience) (fun () -> true);
              ])
        in
        yes "no peer came" nobody;
        Aio.close fd
      done)

(* The same while another task waits for the socket. *)
let listen_while_waited_for () =
  let address = ref loopback in
  for _ = 1 to 100 do
    let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
    Unix.bind fd !address;
    Unix.listen fd 10;
    address := Unix.getsockname fd;
    let join =
      thread (fun () -> yes "closed" (is_closed (fun () -> Aio.accept fd)))
    in
    until_waiting 1;
    Aio.close fd;
    let again = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
    Unix.bind again !address;
    Unix.close again;
    join ()
  done

(* If a descriptor was closed in another way, its number may belong to another file at once. *)
let closed_behind_the_back () =
  with_pipe @@ fun from to_ ->
  let oc = Aio.out_channel_of_descr to_ in
  Aio.output_string oc "x";
  Aio.flush oc;
  Unix.close to_;
  let here, there = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  yes "the same number" (here = to_);
  let ic = Aio.in_channel_of_descr here in
  put there "a line\n";
  strings "of the socket" [ "a line" ] [ Aio.input_line ic ];
  raises "of the pipe" closed (fun () ->
      Aio.output_string oc "y";
      Aio.flush oc);
  Aio.close_out_noerr oc;
  put there "another\n";
  strings "still" [ "another" ] [ Aio.input_line ic ];
  Aio.close_in ic;
  yes "closed" (is_closed (fun () -> Unix.fstat here));
  List.iter Unix.close [ from; there ]

(* --- Two channels ----------------------------------------------------------- *)

let two_channels run () =
  let before = open_files () in
  let here, there = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  let ic = Aio.in_channel_of_descr here
  and oc = Aio.out_channel_of_descr here in
  let lines = Mailbox.create () in
  let join =
    thread (fun () ->
        let rec read () =
          match Aio.input_line ic with
          | line ->
              Mailbox.add lines line;
              read ()
          | exception e when e = closed -> Mailbox.add lines "closed"
        in
        read ())
  in
  run (fun () ->
      until_waiting 1;
      Aio.output_string oc "out\n";
      Aio.close_out oc;
      raises "closed" closed (fun () -> Aio.output_char oc 'x');
      put there "one\n";
      strings "the other channel is open" [ "one" ] [ Mailbox.take lines ];
      until_waiting 1;
      Aio.close_in ic;
      strings "its task gets the exception" [ "closed" ] [ Mailbox.take lines ];
      yes "the second one closes" (is_closed (fun () -> Unix.fstat here));
      Aio.close_in ic;
      Aio.close_out oc);
  join ();
  strings "the written data" [ "out\n" ] [ get there ];
  strings "the end" [ "" ] [ get there ];
  Unix.close there;
  if run != List.assoc "eio" places then strings "files" before (open_files ())

(* Closing the descriptor closes both channels. *)
let closed_below () =
  let here, there = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  let ic = Aio.in_channel_of_descr here
  and oc = Aio.out_channel_of_descr here in
  let join =
    thread (fun () -> raises "told" closed (fun () -> Aio.input_line ic))
  in
  until_waiting 1;
  Aio.close here;
  join ();
  Aio.output_string oc "x";
  raises "closed" closed (fun () -> Aio.flush oc);
  with_pipe @@ fun from to_ ->
  Aio.close_in ic;
  Aio.close_out_noerr oc;
  yes "the number is another file's" (from = here);
  put to_ "x";
  strings "which is open" [ "x" ] [ get from ];
  List.iter Unix.close [ from; to_; there ]

let () =
  Check.run "aio: close"
    [
      in_each "a task begins to read" begins_to_read;
      in_each "two channels" two_channels;
      in_each "listen again" listen_again;
      ( "other",
        [
          test "two close it" closed_by_two;
          test "another file" another_file;
          test "listen while waited for" listen_while_waited_for;
          test "closed by other means" closed_behind_the_back;
          test "closed below two channels" closed_below;
        ] );
    ]
