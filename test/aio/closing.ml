(* Descriptors whose close takes a while. *)

open Concord_test_support
open Check
module Aio = Concord_aio

let drain peer =
  let b = Bytes.create 65536 in
  while Unix.read peer b 0 65536 > 0 do
    ()
  done

(* [f file end_] runs while a thread is in [Unix.close] of a socket, which waits until its data
   was received, or for [linger] seconds. [file] is another file that already has the socket's
   number, and has to be closed. [end_ ()] receives the data. *)
let with_number ?(linger = 20) f =
  let listener = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.bind listener (ADDR_INET (Unix.inet_addr_loopback, 0));
  Unix.listen listener 1;
  let peer = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.connect peer (Unix.getsockname listener);
  let socket, _ = Unix.accept ~cloexec:true listener in
  Unix.setsockopt_optint socket SO_LINGER (Some linger);
  Unix.set_nonblock socket;
  let b = Bytes.create 65536 in
  let rec fill () =
    match Unix.single_write socket b 0 65536 with
    | (_ : int) -> fill ()
    | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()
  in
  fill ();
  let join = thread (fun () -> Aio.close socket) in
  let rec next () =
    let fd = Unix.dup ~cloexec:true listener in
    if fd = socket then fd
    else begin
      Unix.close fd;
      Thread.yield ();
      next ()
    end
  in
  let ended = ref false in
  let end_ () =
    if not !ended then begin
      ended := true;
      drain peer
    end
  in
  Fun.protect
    (fun () -> f (next ()) end_)
    ~finally:(fun () ->
      end_ ();
      join ();
      List.iter Unix.close [ listener; peer ])

let is_open fd =
  match Unix.fstat fd with
  | (_ : Unix.stats) -> true
  | exception Unix.Unix_error (EBADF, _, _) -> false

(* [f fd let_go] runs while a loop holds the descriptor. It doesn't let it go before [let_go
   ()]. *)
let with_loop f =
  let fd, other = Unix.pipe ~cloexec:true () in
  let owner = Concord_aio__Owner.find ~wait:ignore "test" fd in
  let loop = { Concord_aio__Owner.forget = ignore } in
  yes "it is held" (Concord_aio__Owner.watch owner loop);
  f fd (fun () ->
      Concord_aio__Owner.unwatch owner loop;
      Concord_aio__Owner.leave owner);
  Unix.close other
