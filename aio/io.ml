module Promise = Concord.Promise

type kind = File | Stream | Shared
type t = { owner : Owner.t; kind : kind; shut : unit Promise.t option }

(* --- Owners --------------------------------------------------------------- *)

let is_standard fd = fd = Unix.stdin || fd = Unix.stdout || fd = Unix.stderr

(* Until the number was given back, it may belong to the old file or to a new one. *)
let closes closed = ignore (Uncancelled.await closed : _ result)

(* [None] if other code than this library has closed the number, and it belongs to another file
   now. Standard descriptors may change, because programs replace them by [dup2]. *)
let recognise ~shared owner =
  let fd = Owner.descr owner in
  let nature () = Native.nature ~nonblock:(not shared) fd in
  let nature = Owner.using "fstat" owner nature in
  let before = Atomic.exchange (Owner.identity owner) nature in
  if before <> nature && before >= 0 && not (is_standard fd) then None
  else if Native.is_file nature then Some File
  else Some (if shared then Shared else Stream)

let rec find_by ~wait ~shared ?shut name fd =
  let owner = Owner.find ~wait name fd in
  match recognise ~shared owner with
  | Some kind -> { owner; kind; shut }
  | None ->
      Owner.abandon owner;
      Owner.leave owner;
      find_by ~wait ~shared ?shut name fd
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Owner.leave owner;
      Printexc.raise_with_backtrace e backtrace

let find ?shut name fd =
  find_by ~wait:closes ~shared:(is_standard fd) ?shut name fd

let with_ ?shut name fd f =
  let t = find ?shut name fd in
  Ensure.finally Owner.leave t.owner f t

(* For code that can't suspend. *)
let yields _ = Thread.yield ()

let with_now name fd f =
  let t = find_by ~wait:yields ~shared:false name fd in
  Ensure.finally Owner.leave t.owner f t

(* [true] if jobs of workers may use the descriptor. Such a job may take any time, so a close
   doesn't wait for it. *)
let has_jobs owner =
  let fd = Owner.descr owner and identity = Atomic.get (Owner.identity owner) in
  is_standard fd || (identity >= 0 && Native.is_file identity)

let close_owner owner =
  match Owner.close owner with
  | None -> false
  | Some closed ->
      if not (has_jobs owner) then Readiness.await_closed closed;
      begin match Promise.peek closed with
      | Some (Ok (Some e)) -> raise e
      | Some (Ok None) | Some (Error _) | None -> ()
      end;
      true

let bad_descriptor name = Unix.Unix_error (EBADF, name, "")

let close fd =
  let owner = Owner.find ~wait:closes "close" fd in
  if not (Ensure.finally Owner.leave owner close_owner owner) then
    raise (bad_descriptor "close")

(* The numbers of an object in the kernel tell whether [f] has closed it by [Unix.close], and the
   number belongs to another file by now. *)
let owned name fd f =
  let owner = Owner.find ~wait:closes name fd in
  let nature () = Native.nature ~nonblock:false fd in
  let before = Owner.using name owner nature in
  let close owner =
    match Owner.using name owner nature with
    | now when now = before -> ignore (close_owner owner : bool)
    | _ -> Owner.abandon owner
    | exception Unix.Unix_error (EBADF, _, _) -> Owner.abandon owner
  in
  Ensure.finally Owner.leave owner (Ensure.finally close owner f) fd

(* --- Turns ---------------------------------------------------------------- *)

(* How many more operations of this domain may be performed at once, before other tasks have to
   run. *)
let at_a_time = 128
let left = Domain.DLS.new_key (fun () -> ref at_a_time)

(* Called before the operation, so that nothing has happened if the task is cancelled here. If
   the host refuses to suspend, the caller can give its turn to no other task. *)
let give_turn () =
  let left = Domain.DLS.get left in
  decr left;
  if !left < 0 then begin
    left := at_a_time - 1;
    try Concord.Tasks.yield () with
    | e when Concord.Private.Reach.is_refusal e -> ()
    | Invalid_argument _ -> (* a function of [Promise.on_resolve] *) ()
  end

(* --- Operations ----------------------------------------------------------- *)

let using name { owner; shut; _ } f =
  begin match shut with
  | Some shut when Promise.is_resolved shut -> raise (bad_descriptor name)
  | Some _ | None -> ()
  end;
  Owner.using name owner f

let wait_for ~tried { owner; shut; _ } direction =
  Readiness.wait ?unless:shut ~tried owner direction

let wait t direction = wait_for ~tried:true t direction

let rec try_again name t ~wait f =
  match using name t f with
  | v -> v
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
      wait ();
      try_again name t ~wait f
  | exception Unix.Unix_error (EINTR, _, _) -> try_again name t ~wait f

let retry name t ~wait f =
  give_turn ();
  try_again name t ~wait f

let in_worker name t f =
  Blocking_threads.run_protected Files (fun () -> using name t f)

let perform name t direction f =
  let wait () = wait t direction in
  match t.kind with
  | File -> in_worker name t f
  | Stream -> retry name t ~wait f
  | Shared ->
      give_turn ();
      wait_for ~tried:false t direction;
      try_again name t ~wait f

(* [Unix] copies at most so many bytes in a call. It also raises if the range isn't a part of the
   bytes. *)
let max_bytes = 65536
let is_part length pos len = 0 <= pos && 0 <= len && pos <= length - len

let check name length pos len =
  if not (is_part length pos len) then invalid_arg name

(* If the bytes of a file are in the system's memory, no worker is needed. Then the result of
   [now] isn't -1. *)
let transfer name t direction ~now call b pos len =
  let fd = Owner.descr t.owner in
  let call () = call fd b pos len in
  if t.kind = File && is_part (Bytes.length b) pos len then begin
    give_turn ();
    match using name t (fun () -> now fd b pos (Int.min len max_bytes)) with
    | -1 -> in_worker name t call
    | n -> n
  end
  else perform name t direction call

(* A ready socket needs no other call of the system. [sockets] says of each number whether the
   last attempt has found something else, so that the next one is left out. If that is out of
   date, the operation only takes longer. *)
let sockets = Bytes.make 1024 's'
let slot fd = (Iomux.Util.fd_of_unix fd : int) land (Bytes.length sockets - 1)
let may_be_socket fd = Bytes.get sockets (slot fd) = 's' && not (is_standard fd)
let note_socket is_socket fd = Bytes.set sockets (slot fd) is_socket

let at_once name fd ~now b pos len rest =
  if may_be_socket fd && len > 0 && is_part (Bytes.length b) pos len then begin
    give_turn ();
    let attempt owner =
      let call () = now fd b pos (Int.min len max_bytes) in
      let n = Owner.using name owner call in
      if n = -2 then note_socket ' ' fd;
      if n = len then n else rest (Some owner) n
    in
    let owner = Owner.find ~wait:closes name fd in
    Ensure.finally Owner.leave owner attempt owner
  end
  else rest None (-2)

(* If some bytes were written, the others must not go to another file that has got the number
   since. *)
let with_rest ?owner name fd direction n f =
  with_ name fd @@ fun t ->
  begin match owner with
  | Some owner when n > 0 && owner != t.owner -> raise (bad_descriptor name)
  | Some _ | None -> ()
  end;
  if n = -1 && t.kind = Stream then wait t direction;
  f t

let read t b pos len =
  transfer "read" t Read ~now:Native.read_now Unix.read b pos len

(* A pipe that is ready for writing takes so many bytes without blocking. *)
let pipe_buf = 4096

let write t b pos len =
  let len = if t.kind = Shared then Int.min len pipe_buf else len in
  transfer "write" t Write ~now:Native.write_now Unix.single_write b pos len

let would_wait = function
  | Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> true
  | _ -> false

(* --- Operations of events, which can't suspend ---------------------------- *)

let rec try_call name t direction call =
  if t.kind = Shared && not (Readiness.look (Owner.descr t.owner) direction)
  then None
  else
    match using name t call with
    | n -> Some n
    | exception e when would_wait e -> None
    | exception Unix.Unix_error (EINTR, _, _) -> try_call name t direction call

(* -2 if it is no socket. *)
let try_socket name fd ~now b pos len =
  if may_be_socket fd then begin
    let call () = now fd b pos (Int.min len max_bytes) in
    let owner = Owner.find ~wait:yields name fd in
    let n = Ensure.finally Owner.leave owner (Owner.using name owner) call in
    if n = -2 then note_socket ' ' fd;
    n
  end
  else -2

let try_now name fd direction ~now call b pos len =
  match try_socket name fd ~now b pos len with
  | -1 -> None
  | -2 ->
      let t = find_by ~wait:yields ~shared:(is_standard fd) name fd in
      let len = if t.kind = Shared then Int.min len pipe_buf else len in
      let attempt t = try_call name t direction (fun () -> call fd b pos len) in
      Ensure.finally Owner.leave t.owner attempt t
  | n -> Some n

let read_evt fd b pos len =
  Readiness.tentative_evt fd Read @@ fun () ->
  try_now "read" fd Read ~now:Native.recv_now Unix.read b pos len

let write_evt fd b pos len =
  Readiness.tentative_evt fd Write @@ fun () ->
  try_now "write" fd Write ~now:Native.send_now Unix.single_write b pos len

let rec write_now t b pos len =
  let fd = Owner.descr t.owner in
  let call () =
    match t.kind with
    | File -> Int.max 0 (Native.write_now fd b pos (Int.min len max_bytes))
    | Stream -> Unix.single_write fd b pos len
    | Shared when Readiness.is_writable fd ->
        Unix.single_write fd b pos (Int.min len pipe_buf)
    | Shared -> 0
  in
  match using "write" t call with
  | n -> n
  | exception e when would_wait e -> 0
  | exception Unix.Unix_error (EINTR, _, _) -> write_now t b pos len
