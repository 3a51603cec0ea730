open Unix

let is_closing = Io.never

let read fd b pos len =
  Io.with_owner "read" fd (fun owner kind ->
      Io.read ~is_closing owner kind b pos len)

(* --- Writing -------------------------------------------------------------- *)

let single_write fd b pos len =
  Io.with_owner "write" fd (fun owner kind ->
      Io.write ~is_closing owner kind b pos len)

(* A string's bytes are only read. *)
let single_write_substring fd s = single_write fd (Bytes.unsafe_of_string s)

let check name length pos len =
  if pos < 0 || len < 0 || pos > length - len then
    invalid_arg ("Concord_aio." ^ name)

(* One owner for all parts: the number may be another file's before the last one. *)
let write fd b pos len =
  check "write" (Bytes.length b) pos len;
  Io.with_owner "write" fd @@ fun owner kind ->
  let stop = pos + len in
  let rec from pos =
    if pos < stop then
      from (pos + Io.write ~is_closing owner kind b pos (stop - pos))
  in
  from pos;
  len

let write_substring fd s pos len =
  check "write_substring" (String.length s) pos len;
  write fd (Bytes.unsafe_of_string s) pos len

(* --- Sockets -------------------------------------------------------------- *)

let on_socket name fd direction f =
  Io.with_owner name fd (fun owner kind ->
      if kind = Shared then set_nonblock fd;
      Io.perform ~is_closing name owner Stream direction f)

let recv fd b pos len flags =
  on_socket "recv" fd Read (fun () -> Unix.recv fd b pos len flags)

let send fd b pos len flags =
  on_socket "send" fd Write (fun () -> Unix.send fd b pos len flags)

let send_substring fd s pos len flags =
  on_socket "send" fd Write (fun () -> Unix.send_substring fd s pos len flags)

let recvfrom fd b pos len flags =
  on_socket "recvfrom" fd Read (fun () -> Unix.recvfrom fd b pos len flags)

(* How long to wait for a place in the queue of a socket of the same machine, which no
   poll tells: at first, and at most. *)
let pause = 0.001
let longest_pause = 0.016

let sleep seconds =
  Concord.Event.(sync (timeout (Float.min seconds longest_pause)))

(* To be full is a state of this socket, of which poll tells, or of another one. *)
let sendto fd b pos len flags address =
  Io.with_owner "sendto" fd @@ fun owner kind ->
  if kind = Shared then set_nonblock fd;
  let call () = Unix.sendto fd b pos len flags address in
  let rec send ~after =
    match Owner.using "sendto" owner call with
    | n -> n
    | exception Unix_error (EINTR, _, _) -> send ~after
    | exception Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
        if after > 0. then sleep after;
        Readiness.wait ~is_closing owner Write;
        send ~after:(Float.max pause (2. *. after))
  in
  Io.give_turn ();
  send ~after:0.

(* The peer may have gone since: then the next connection counts. *)
let rec try_accept cloexec fd =
  match Unix.accept ~cloexec fd with
  | connection -> connection
  | exception Unix_error (ECONNABORTED, _, _) -> try_accept cloexec fd

let accept ?(cloexec = true) fd =
  on_socket "accept" fd Read (fun () -> try_accept cloexec fd)

let accept_evt ?(cloexec = true) fd =
  let rec accept () =
    match try_accept cloexec fd with
    | connection -> Some connection
    | exception Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> None
    | exception Unix_error (EINTR, _, _) -> accept ()
  in
  Readiness.tentative_evt fd Read (fun () ->
      Io.with_owner_now "accept" fd (fun owner ->
          Owner.using "accept" owner accept))

let established fd owner =
  Readiness.wait ~is_closing owner Write;
  match Owner.using "connect" owner (fun () -> getsockopt_error fd) with
  | None -> ()
  | Some error -> raise (Unix_error (error, "connect", ""))

let connect fd address =
  Io.with_owner "connect" fd @@ fun owner kind ->
  if kind = Shared then set_nonblock fd;
  let rec connect pause =
    match Owner.using "connect" owner (fun () -> Unix.connect fd address) with
    | () -> ()
    | exception Unix_error ((EINPROGRESS | EINTR), _, _) -> established fd owner
    | exception Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
        sleep pause;
        connect (2. *. pause)
  in
  connect pause

(* --- Files ---------------------------------------------------------------- *)

let close fd =
  let owner = Owner.find ~wait:Io.closes "close" fd in
  let is_first =
    Fun.protect
      ~finally:(fun () -> Owner.leave owner)
      (fun () -> Io.close owner)
  in
  if not is_first then raise (Unix_error (EBADF, "close", ""))

let openfile name flags perm =
  match Native.open_now name flags with
  | Some fd -> fd
  | None ->
      Workers.run ~drop:Unix.close Files (fun () ->
          Unix.openfile name (O_CLOEXEC :: flags) perm)
