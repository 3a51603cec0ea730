open Concord
open Concord_buffered

exception Failed of string

type state =
  | Intact
  | Broken
      (** An operation has failed, or a write was given up in the middle. *)
  | Closed

(* The reader and the writer of a connection may be tasks of two domains, and OpenSSL wants one
   call at a time. The lock is held during a call, which doesn't block, and not while its task
   waits. *)
type t = {
  fd : Unix.file_descr;
  ssl : Ssl.socket;
  lock : Mutex.t;
  state : state Atomic.t;
  mutable calls : int;  (** Changed with the lock held. *)
}

let client_context ?authorities () =
  let context = Ssl.create_context TLSv1_3 Client_context in
  Ssl.set_min_protocol_version context TLSv1_2;
  Ssl.set_verify context [ Verify_peer ] None;
  (match authorities with
  | Some file -> Ssl.load_verify_locations context file ""
  | None ->
      if not (Ssl.set_default_verify_paths context) then
        raise (Failed "the system's certificates can't be read"));
  context

let server_context ~certificate ~key =
  let context = Ssl.create_context TLSv1_3 Server_context in
  Ssl.set_min_protocol_version context TLSv1_2;
  Ssl.use_certificate context certificate key;
  context

(* --- Calls -------------------------------------------------------------------------- *)

type 'a outcome =
  | Done of 'a
  | Wait of (Unix.file_descr -> unit Event.t)
  | Ended
  | Failure of string

(* Takes all errors out of the queue of this thread, and returns the first one. Otherwise
   OpenSSL would take them for errors of the thread's next call, which is another task's. *)
let take_reason () =
  let rec take_others () =
    if (Ssl.Error.get_error ()).reason_code <> 0 then take_others ()
  in
  let { Ssl.Error.lib; reason; reason_code; _ } = Ssl.Error.get_error () in
  if reason_code <> 0 then take_others ();
  match (lib, reason) with
  | _, Some reason -> reason
  | Some lib, None -> "an error of " ^ lib
  | None, None -> "the peer has closed the connection"

let outcome f =
  match f () with
  | v -> Done v
  | exception
      ( Ssl.Connection_error error
      | Ssl.Accept_error error
      | Ssl.Read_error error
      | Ssl.Write_error error ) -> (
      match error with
      | Error_want_read -> Wait Concord_aio.readable_evt
      | Error_want_write -> Wait Concord_aio.writable_evt
      | Error_zero_return -> Ended
      | _ -> Failure (take_reason ()))

let break t = ignore (Atomic.compare_and_set t.state Intact Broken : bool)

let attempt t name f () =
  t.calls <- t.calls + 1;
  match Atomic.get t.state with
  | Intact -> outcome (fun () -> f t.ssl)
  | Broken -> Failure "an earlier operation has failed"
  | Closed -> raise (Unix.Unix_error (EBADF, "Concord_ssl." ^ name, ""))

(* If a part of the operation was done, it can't be given up. *)
let wait t ~in_parts event =
  try Event.sync (event t.fd)
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    if in_parts then break t;
    Printexc.raise_with_backtrace e backtrace

let rec call t name ~in_parts f =
  match Mutex.protect t.lock (attempt t name f) with
  | Done v -> Some v
  | Ended -> None
  | Failure reason ->
      break t;
      raise (Failed (name ^ ": " ^ reason))
  | Wait event ->
      wait t ~in_parts event;
      call t name ~in_parts f

(* If the descriptor is always ready, no call waits, and the host's other tasks would not run. *)
let yield_sometimes t = if t.calls land 127 = 0 then Tasks.yield ()

let read t bytes first n =
  yield_sometimes t;
  let read ssl = Ssl.Runtime_lock.read ssl bytes first n in
  Option.value ~default:0 (call t "read" ~in_parts:false read)

let closed_by_peer name = Failed (name ^ ": the peer has closed the connection")

(* The bytes of one record. OpenSSL writes all that it is given, in several calls if it has to
   wait, and each of them wants the same bytes. *)
let most = 16_384

let single_write t bytes first n =
  yield_sometimes t;
  let write ssl = Ssl.Runtime_lock.write ssl bytes first (Int.min n most) in
  match call t "single_write" ~in_parts:true write with
  | Some written -> written
  | None -> raise (closed_by_peer "single_write")

(* --- Connections -------------------------------------------------------------------- *)

let shake_hands name context fd ~prepare f =
  Unix.set_nonblock fd;
  let ssl = Ssl.embed_socket fd context and lock = Mutex.create () in
  prepare ssl;
  let t = { fd; ssl; lock; state = Atomic.make Intact; calls = 0 } in
  match call t name ~in_parts:true f with
  | Some () -> t
  | None -> raise (closed_by_peer name)

let name_host host ssl =
  match Unix.inet_addr_of_string host with
  | (_ : Unix.inet_addr) -> Ssl.set_ip ssl host
  | exception Failure _ ->
      Ssl.set_client_SNI_hostname ssl host;
      Ssl.set_host ssl host

let client context ~host fd =
  shake_hands "client" context fd ~prepare:(name_host host)
    Ssl.Runtime_lock.connect

let server context fd =
  shake_hands "server" context fd ~prepare:ignore Ssl.Runtime_lock.accept

(* Tells the peer, without waiting, that nothing was cut off. *)
let notify t =
  match outcome (fun () -> Ssl.Runtime_lock.close_notify t.ssl) with
  | Done (_ : bool) | Wait _ | Ended | Failure _ -> ()

let close t =
  let close before () =
    if before = Intact then notify t;
    Concord_aio.close t.fd
  in
  match Atomic.exchange t.state Closed with
  | Closed -> ()
  | before -> Tasks.protect (fun () -> Mutex.protect t.lock (close before))

let to_socket t =
  Socket.create ~read:(read t) ~write:(single_write t) ~close:(fun () ->
      close t)

(* --- Over any transport --------------------------------------------------------------- *)

(* OpenSSL reads from a descriptor. This one is an end of a pair, and two tasks carry the bytes
   between the other end and the transport. *)
let over make reader writer f =
  let ours, its = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  let carry read write ends () =
    let buffer = Bytes.create most in
    let rec next () =
      match read buffer 0 most with
      | 0 -> ()
      | n ->
          write buffer n;
          next ()
    in
    (* If the transport fails, OpenSSL has to notice. *)
    Fun.protect next ~finally:(fun () -> Unix.shutdown ours ends)
  in
  let incoming =
    let write b n = ignore (Concord_aio.write ours b 0 n : int) in
    carry (Reader.read reader) write SHUTDOWN_SEND
  and outgoing =
    let write b n =
      Writer.bytes writer b 0 n;
      Writer.flush writer
    in
    carry (Concord_aio.read ours) write SHUTDOWN_ALL
  in
  let with_tls scope =
    let _ : unit Promise.t = Scope.fork_promise scope incoming in
    let sent = Scope.fork_promise scope outgoing in
    let tls =
      try make its
      with e ->
        let backtrace = Printexc.get_raw_backtrace () in
        Concord_aio.close its;
        Printexc.raise_with_backtrace e backtrace
    in
    let v = Fun.protect ~finally:(fun () -> close tls) (fun () -> f tls) in
    (* The peer may have closed the connection before it gets the last bytes, which say that
       this is the end. *)
    ignore (Promise.await_result sent : (unit, exn) result);
    Scope.cancel scope;
    v
  in
  Fun.protect
    ~finally:(fun () -> Concord_aio.close ours)
    (fun () -> Scope.run with_tls)
