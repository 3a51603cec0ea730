open Unix

(* A file's operations wait for the disk, and poll says nothing of it. *)
let is_file fd =
  match (fstat fd).st_kind with
  | S_REG | S_BLK -> true
  | S_DIR | S_CHR | S_LNK | S_FIFO | S_SOCK -> false

(* --- Non-blocking --------------------------------------------------------- *)

let rec when_ready fd direction f =
  match f () with
  | v -> v
  | exception Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
      Readiness.wait fd direction;
      when_ready fd direction f
  | exception Unix_error (EINTR, _, _) -> when_ready fd direction f

(* The flag may have been cleared, and the number may be another file's by now: so it is
   set each time. *)
let on_socket fd direction f =
  set_nonblock fd;
  when_ready fd direction f

let on_any fd direction f =
  if is_file fd then Workers.run_protected f else on_socket fd direction f

let read fd b pos len = on_any fd Read (fun () -> Unix.read fd b pos len)

let single_write fd b pos len =
  on_any fd Write (fun () -> Unix.single_write fd b pos len)

let single_write_substring fd s pos len =
  on_any fd Write (fun () -> Unix.single_write_substring fd s pos len)

let check name length pos len =
  if pos < 0 || len < 0 || pos > length - len then
    invalid_arg ("Concord_aio." ^ name)

let all write pos len =
  let rec from done_ =
    if done_ < len then from (done_ + write (pos + done_) (len - done_))
  in
  from 0;
  len

let write fd b pos len =
  check "write" (Bytes.length b) pos len;
  all (single_write fd b) pos len

let write_substring fd s pos len =
  check "write_substring" (String.length s) pos len;
  all (single_write_substring fd s) pos len

let recv fd b pos len flags =
  on_socket fd Read (fun () -> Unix.recv fd b pos len flags)

let send fd b pos len flags =
  on_socket fd Write (fun () -> Unix.send fd b pos len flags)

let send_substring fd s pos len flags =
  on_socket fd Write (fun () -> Unix.send_substring fd s pos len flags)

let recvfrom fd b pos len flags =
  on_socket fd Read (fun () -> Unix.recvfrom fd b pos len flags)

let sendto fd b pos len flags address =
  on_socket fd Write (fun () -> Unix.sendto fd b pos len flags address)

(* --- Connections ---------------------------------------------------------- *)

(* The peer may have gone since: then the next connection counts. *)
let rec try_accept cloexec fd =
  match Unix.accept ~cloexec fd with
  | connection -> Some connection
  | exception Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> None
  | exception Unix_error ((EINTR | ECONNABORTED), _, _) -> try_accept cloexec fd

let rec accept ?(cloexec = true) fd =
  set_nonblock fd;
  match try_accept cloexec fd with
  | Some connection -> connection
  | None ->
      Readiness.wait fd Read;
      accept ~cloexec fd

let accept_evt ?(cloexec = true) fd =
  Readiness.tentative_evt fd Read (fun () ->
      set_nonblock fd;
      try_accept cloexec fd)

let established fd =
  Readiness.wait fd Write;
  match getsockopt_error fd with
  | None -> ()
  | Some error -> raise (Unix_error (error, "connect", ""))

(* How long to wait for a place in the queue of a socket of the same machine, which no
   poll tells. *)
let pause = 0.005

let rec connect fd address =
  set_nonblock fd;
  match Unix.connect fd address with
  | () -> ()
  | exception Unix_error ((EINPROGRESS | EINTR), _, _) -> established fd
  | exception Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
      Concord.Event.(sync (timeout pause));
      connect fd address

(* Linux has closed it also if it says [EINTR]. *)
let close fd =
  Readiness.forget fd;
  try Unix.close fd with Unix_error (EINTR, _, _) -> ()

let openfile name flags perm =
  Workers.run ~drop:Unix.close (fun () ->
      Unix.openfile name (O_CLOEXEC :: flags) perm)
