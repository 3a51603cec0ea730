(* Waits for peers: how connections end, are refused, and are accepted. *)

open Concord
open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

(* --- Peers ------------------------------------------------------------------ *)

let connected f () =
  let before = open_files () in
  Aio.run (fun () ->
      let listener, address = listening () in
      let peer = client address in
      let fd, _ = Aio.accept listener in
      Aio.close listener;
      f fd peer);
  strings "descriptors" before (open_files ());
  int "no task waits" 0 (waiting ())

let half_closed fd peer =
  Unix.shutdown peer SHUTDOWN_SEND;
  strings "the end" [ "" ] [ get fd ];
  put fd "still";
  strings "the other way" [ "still" ] [ get peer ];
  Aio.close fd;
  Aio.close peer

let reset fd peer =
  let ic = Aio.in_channel_of_descr fd in
  let reader =
    Fifo.fork (fun () ->
        raises "reset" (Sys_error "Connection reset by peer") (fun () ->
            Aio.input_line ic))
  in
  Unix.setsockopt_optint peer SO_LINGER (Some 0);
  Aio.close peer;
  Fifo.join reader;
  Aio.close_in ic

let stalled fd peer =
  let text = String.make 20_000_000 'x' in
  let writer =
    Fifo.fork (fun () ->
        ignore (Aio.write_substring fd text 0 (String.length text) : int))
  in
  (* Other tasks continue. *)
  with_pipe (fun from to_ ->
      let reader = Fifo.fork (fun () -> strings "x" [ "x" ] [ get from ]) in
      put to_ "x";
      Fifo.join reader;
      Aio.close from;
      Aio.close to_);
  Fifo.cancel writer;
  Fifo.join writer;
  Aio.close fd;
  Aio.close peer

let broken fd peer =
  Aio.close peer;
  let oc = Aio.out_channel_of_descr fd in
  let rec write n =
    Aio.output_string oc "x";
    Aio.flush oc;
    if n > 0 then begin
      Fifo.yield ();
      write (n - 1)
    end
  in
  (match write 100_000 with
  | () -> Alcotest.fail "written"
  | exception Sys_error _ -> ());
  (* This tries again to write the remaining data. It closes the socket in any case. *)
  match Aio.close_out oc with
  | () -> ()
  | exception Sys_error _ -> ()

let refused () =
  Aio.run @@ fun () ->
  let listener, address = listening () in
  Aio.close listener;
  let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  (match Aio.connect fd address with
  | () -> Alcotest.fail "connected"
  | exception Unix.Unix_error (ECONNREFUSED, _, _) -> ());
  Aio.close fd

(* --- Accepting as an event -------------------------------------------------- *)

let accept_evt () =
  Aio.run @@ fun () ->
  let listener, address = listening () in
  let choose () =
    Event.(
      select
        [
          wrap (Aio.accept_evt listener) (fun (fd, _) -> Some fd);
          wrap (timeout 0.01) (fun () -> None);
        ])
  in
  yes "nobody" (choose () = None);
  let peer = client address in
  let accepted = Event.sync (Aio.accept_evt listener) in
  put (fst accepted) "x";
  strings "it is that one" [ "x" ] [ get peer ];
  yes "no other" (Event.poll (Aio.accept_evt listener) = None);
  List.iter Aio.close [ fst accepted; peer; listener ]

(* Two tasks wait for one connection. One gets it, and the other continues to wait. *)
let accept_once () =
  Aio.run @@ fun () ->
  let listener, address = listening () in
  let got = ref 0 in
  let wait () =
    let fd, _ = Event.sync (Aio.accept_evt listener) in
    incr got;
    Aio.close fd
  in
  let tasks = [ Fifo.fork wait; Fifo.fork wait ] in
  let peer = client address in
  eventually "one" ~pause:Fifo.yield (fun () -> !got = 1);
  until_waiting 1;
  let peer' = client address in
  List.iter Fifo.join tasks;
  int "both" 2 !got;
  List.iter Aio.close [ peer; peer'; listener ]
