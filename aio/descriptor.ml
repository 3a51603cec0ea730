open Unix

let read fd b pos len =
  Io.at_once "read" fd ~now:Native.recv_now b pos len @@ fun owner n ->
  if n >= 0 then n
  else Io.with_rest ?owner "read" fd Read n (fun io -> Io.read io b pos len)

let single_write fd b pos len =
  Io.at_once "write" fd ~now:Native.send_now b pos len @@ fun owner n ->
  if n >= 0 then n
  else Io.with_rest ?owner "write" fd Write n (fun io -> Io.write io b pos len)

(* [unsafe_of_string] is safe here, because the bytes are only read. *)
let single_write_substring fd s = single_write fd (Bytes.unsafe_of_string s)

(* All parts are written with one owner. Otherwise the descriptor could be closed and belong to
   another file before the last part. *)
let write fd b pos len =
  Io.check "Concord_aio.write" (Bytes.length b) pos len;
  Io.at_once "write" fd ~now:Native.send_now b pos len @@ fun owner n ->
  Io.with_rest ?owner "write" fd Write n @@ fun io ->
  let stop = pos + len in
  let rec from pos =
    if pos < stop then from (pos + Io.write io b pos (stop - pos))
  in
  from (pos + Int.max 0 n);
  len

let write_substring fd s pos len =
  Io.check "Concord_aio.write_substring" (String.length s) pos len;
  write fd (Bytes.unsafe_of_string s) pos len

let read_evt fd b pos len =
  Io.check "Concord_aio.read_evt" (Bytes.length b) pos len;
  Io.read_evt fd b pos len

let single_write_evt fd b pos len =
  Io.check "Concord_aio.single_write_evt" (Bytes.length b) pos len;
  Io.write_evt fd b pos len

let single_write_substring_evt fd s pos len =
  Io.check "Concord_aio.single_write_substring_evt" (String.length s) pos len;
  Io.write_evt fd (Bytes.unsafe_of_string s) pos len

(* --- Sockets -------------------------------------------------------------- *)

(* Makes the socket non-blocking, even if it is a standard descriptor. *)
let with_socket name fd f =
  Io.with_ name fd (fun io ->
      if io.kind = Shared then set_nonblock fd;
      f io)

let on_socket name fd direction f =
  with_socket name fd (fun io ->
      Io.perform name { io with kind = Stream } direction f)

let recv fd b pos len flags =
  on_socket "recv" fd Read (fun () -> Unix.recv fd b pos len flags)

let send fd b pos len flags =
  on_socket "send" fd Write (fun () -> Unix.send fd b pos len flags)

let send_substring fd s = send fd (Bytes.unsafe_of_string s)

let recvfrom fd b pos len flags =
  on_socket "recvfrom" fd Read (fun () -> Unix.recvfrom fd b pos len flags)

let most_descrs = 253

let send_descrs fd descrs b pos len =
  Io.check "Concord_aio.send_descrs" (Bytes.length b) pos len;
  let descrs = Array.of_list descrs in
  let n = Array.length descrs in
  if n < 1 || n > most_descrs then
    Printf.ksprintf invalid_arg
      "Concord_aio.send_descrs: %d descriptors, but 1 to %d can be sent" n
      most_descrs;
  if len = 0 then
    invalid_arg
      "Concord_aio.send_descrs: descriptors need at least one byte beside them";
  on_socket "send_descrs" fd Write (fun () ->
      Native.send_descrs fd descrs b pos len)

let recv_descrs fd b pos len =
  Io.check "Concord_aio.recv_descrs" (Bytes.length b) pos len;
  let n, descrs =
    on_socket "recv_descrs" fd Read (fun () -> Native.recv_descrs fd b pos len)
  in
  Array.iter (Io.note_socket 's') descrs;
  (n, Array.to_list descrs)

let sleepf seconds = Concord.Event.(sync (timeout seconds))
let sleep seconds = sleepf (float seconds)

(* Some sockets of the same machine have a queue, and poll doesn't say whether it is full. So
   the task sleeps until there may be room, each time longer. *)
let longer_pauses () =
  let pause = ref 0.001 in
  fun () ->
    sleepf !pause;
    pause := Float.min 0.016 (2. *. !pause)

(* If the queue of this socket is full, poll says when it has room. If that of the receiver is
   full, poll says nothing, so the task sleeps. *)
let sendto fd b pos len flags address =
  with_socket "sendto" fd @@ fun io ->
  let pause = longer_pauses () and is_first = ref true in
  let wait () =
    if not !is_first then pause ();
    is_first := false;
    Io.wait io Write
  in
  Io.retry "sendto" io ~wait (fun () -> Unix.sendto fd b pos len flags address)

(* If the peer has closed the connection already, the next connection is accepted. *)
let rec try_accept cloexec fd =
  match Unix.accept ~cloexec fd with
  | (client, _) as connection ->
      Io.note_socket 's' client;
      connection
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
      Io.with_now "accept" fd (fun io -> Io.using "accept" io accept))

let connect fd address =
  with_socket "connect" fd @@ fun io ->
  let pause = longer_pauses () in
  let is_connected () = Readiness.is_connected fd in
  let rec established () =
    Io.wait io Write;
    if not (Io.using "connect" io is_connected) then established ()
  in
  let rec connect () =
    match Io.using "connect" io (fun () -> Unix.connect fd address) with
    | () -> ()
    | exception Unix_error ((EINPROGRESS | EINTR), _, _) -> established ()
    | exception Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
        pause ();
        connect ()
  in
  connect ()

(* --- Files ---------------------------------------------------------------- *)

let close fd =
  Io.note_socket 's' fd;
  Io.close fd

let openfile name flags perm =
  match Native.open_now name flags with
  | Some fd -> fd
  | None ->
      Blocking_threads.run ~drop:Unix.close Files (fun () ->
          Unix.openfile name (O_CLOEXEC :: flags) perm)

let with_file name flags perm f =
  Io.owned "with_file" (openfile name flags perm) f

(* --- Copies --------------------------------------------------------------- *)

let rec write_all io b pos len =
  if len > 0 then begin
    let n = Io.write io b pos len in
    write_all io b (pos + n) (len - n)
  end

let block = 65536

(* [read b n copied] reads up to [n] bytes, after [copied] ones. *)
let copy_by_buffer read sink ~len copied =
  let b = Bytes.create (Int.min block (len - copied)) in
  let rec next copied =
    match read b (Int.min (Bytes.length b) (len - copied)) copied with
    | 0 -> copied
    | n ->
        write_all sink b 0 n;
        next (copied + n)
  in
  next copied

(* So many bytes are copied at once if they are in the system's memory. Otherwise a thread copies
   up to the larger number, which a task may have to wait for if it is cancelled meanwhile. *)
let part_now = 131_072
let part = 1_048_576

let copy ?at ?(len = max_int) from to_ =
  let check name n =
    if n < 0 then
      Printf.ksprintf invalid_arg "Concord_aio.copy: %s is negative (%d)" name n
  in
  Option.iter (check "at") at;
  check "len" len;
  Io.with_ "copy" from @@ fun source ->
  Io.with_ "copy" to_ @@ fun sink ->
  let read b n copied =
    match at with
    | None -> Io.read source b 0 n
    | Some at ->
        let io = { source with kind = File } in
        let pread () = Native.pread from b 0 n (at + copied) in
        Io.perform "copy" io Read pread
  in
  let by_kernel copied most now () =
    let at = match at with Some at -> at + copied | None -> -1 in
    let send () =
      Native.send_file to_ from at (Int.min most (len - copied)) now
    in
    Io.using "copy" sink send
  in
  let in_thread copied =
    Io.in_worker "copy" source (by_kernel copied part false)
  in
  let attempt copied =
    if sink.kind = File then in_thread copied
    else begin
      Io.give_turn ();
      match Io.using "copy" source (by_kernel copied part_now true) with
      | -3 -> in_thread copied
      | n -> n
    end
  in
  let rec next copied =
    if copied = len then copied
    else
      match attempt copied with
      | 0 -> copied
      | -1 ->
          Io.wait sink Write;
          next copied
      | -2 -> copy_by_buffer read sink ~len copied
      | n -> next (copied + n)
  in
  if source.kind = File && sink.kind <> Shared then next 0
  else copy_by_buffer read sink ~len 0

(* --- Names of hosts ------------------------------------------------------- *)

let getaddrinfo host service options =
  Blocking_threads.run Names (fun () -> Unix.getaddrinfo host service options)

let getnameinfo address options =
  Blocking_threads.run Names (fun () -> Unix.getnameinfo address options)
