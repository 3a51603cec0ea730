(* Operations on descriptors that need not wait, on some hosts. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check
open Support
open Ready_cases

let text = "text\n"
let size = String.length text

(* A pipe that has [text]. *)
let filled () =
  let from, to_ = Unix.pipe ~cloexec:true () in
  put to_ text;
  (from, to_)

let close_both (a, b) =
  Unix.close a;
  Unix.close b

let on_pipe name f =
  case name (fun () ->
      let ((from, to_) as pipe) = filled () in
      fun () ->
        f from to_;
        close_both pipe)

let descriptors =
  let bytes = Bytes.create 100 in
  [
    on_pipe "read" (fun from _ -> int "read" size (Aio.read from bytes 0 100));
    on_pipe "write" (fun _ to_ ->
        int "written" size (Aio.write_substring to_ text 0 size));
    on_pipe "read of stdin" (fun from _ ->
        as_standard Unix.stdin from (fun () ->
            int "read" size (Aio.read Unix.stdin bytes 0 100)));
    on_pipe "write to stdin" (fun _ to_ ->
        as_standard Unix.stdin to_ (fun () ->
            int "written" size (Aio.write_substring Unix.stdin text 0 size)));
    on_pipe "read_evt" (fun from _ ->
        int "read" size (Event.sync (Aio.read_evt from bytes 0 100)));
    on_pipe "single_write_evt" (fun _ to_ ->
        let write = Aio.single_write_substring_evt to_ text 0 size in
        int "written" size (Event.sync write));
    on_pipe "readable_evt" (fun from _ -> Event.sync (Aio.readable_evt from));
    on_pipe "writable_evt" (fun _ to_ -> Event.sync (Aio.writable_evt to_));
    case "read, at the end" (fun () ->
        let from, to_ = Unix.pipe ~cloexec:true () in
        Unix.close to_;
        fun () ->
          int "read" 0 (Aio.read from bytes 0 100);
          Unix.close from);
    case "accept" (fun () ->
        let listening, address = listening () in
        let client = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
        Unix.connect client address;
        fun () ->
          let server, _ = Aio.accept listening in
          List.iter Unix.close [ listening; client; server ]);
    case "accept_evt" (fun () ->
        let listening, address = listening () in
        let client = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
        Unix.connect client address;
        fun () ->
          let server, _ = Event.sync (Aio.accept_evt listening) in
          List.iter Unix.close [ listening; client; server ]);
    case "send, recv, sendto, recvfrom" (fun () ->
        let a, b = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
        fun () ->
          int "sent" size (Aio.send_substring a text 0 size []);
          int "received" size (Aio.recv b bytes 0 100 []);
          int "sent" size (Aio.send_substring b text 0 size []);
          int "received" size (fst (Aio.recvfrom a bytes 0 100 []));
          close_both (a, b));
    case "close" (fun () ->
        let from, to_ = filled () in
        fun () ->
          Aio.close from;
          Aio.close to_);
    case "sleepf 0." (fun () -> fun () -> Aio.sleepf 0.);
  ]

let channels =
  [
    case "input_line" (fun () ->
        let from, to_ = filled () in
        let ic = Aio.in_channel_of_descr from in
        fun () ->
          strings "the line" [ "text" ] [ Aio.input_line ic ];
          Aio.close_in ic;
          Unix.close to_);
    case "output_string and flush" (fun () ->
        let from, to_ = Unix.pipe ~cloexec:true () in
        let oc = Aio.out_channel_of_descr to_ in
        fun () ->
          Aio.output_string oc text;
          Aio.flush oc;
          Aio.close_out oc;
          Unix.close from);
    case "input_char, from the buffer" (fun () ->
        let from, to_ = filled () in
        let ic = Aio.in_channel_of_descr from in
        fun () ->
          yes "the character" (Aio.input_char ic = 't');
          strings "the line" [ "ext" ] [ Aio.input_line ic ];
          Aio.close_in ic;
          Unix.close to_);
  ]

(* After 128 operations in a domain, the next one yields. So each run has its own domain. *)
let in_new_domain (host : Test_host.t) =
  {
    host with
    run = (fun body -> Domain.join (Domain.spawn (fun () -> host.run body)));
  }

let aio_run =
  {
    Basic_hosts.fifo with
    name = "Concord_aio.run";
    run =
      (fun body ->
        Aio.run (fun () ->
            body
              {
                fork = (fun f -> ignore (Concord_fifo.fork f));
                pause = Concord_fifo.yield;
              }));
  }

let () =
  let on host = on ~cases:(descriptors @ channels) (in_new_domain host) in
  run "Concord_aio: operations that need not wait"
    [
      on aio_run;
      on Basic_hosts.fifo;
      on Eio_hosts.fibers;
      on (Test_host.within ~outer:Eio_hosts.fibers aio_run);
    ]
