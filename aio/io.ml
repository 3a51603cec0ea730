type kind = File | Stream | Shared

(* --- Owners --------------------------------------------------------------- *)

let is_standard fd = fd = Unix.stdin || fd = Unix.stdout || fd = Unix.stderr

(* Until then the number may be an old file's or a new one's. *)
let closes (closed : exn option Concord.Promise.t) =
  ignore (Concord.Promise.await closed : exn option)

(* [None] if the number was closed by other means than ours, and is another file's now. The
   standard descriptors are whatever [dup2] makes of them. *)
let recognise ~shared owner =
  let fd = Owner.descr owner in
  let nature () = Native.nature ~nonblock:(not shared) fd in
  let nature = Owner.using "fstat" owner nature in
  let before = Owner.identity owner in
  if before <> nature then Owner.set_identity owner nature;
  if before <> nature && before >= 0 && not (is_standard fd) then None
  else if Native.is_file nature then Some File
  else Some (if shared then Shared else Stream)

let rec find_by ~wait ~shared name fd =
  let owner = Owner.find ~wait name fd in
  match recognise ~shared owner with
  | Some kind -> (owner, kind)
  | None ->
      Owner.abandon owner;
      Owner.leave owner;
      find_by ~wait ~shared name fd
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Owner.leave owner;
      Printexc.raise_with_backtrace e backtrace

let find name fd = find_by ~wait:closes ~shared:(is_standard fd) name fd

let leaving owner f =
  match f owner with
  | v ->
      Owner.leave owner;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Owner.leave owner;
      Printexc.raise_with_backtrace e backtrace

let with_owner name fd f =
  let owner, kind = find name fd in
  leaving owner (fun owner -> f owner kind)

let with_owner_now name fd f =
  let wait _ = Thread.yield () in
  let owner, _ = find_by ~wait ~shared:false name fd in
  leaving owner f

(* A job may take as long as it likes. Whoever is told so waits for nothing else. *)
let has_jobs owner =
  let fd = Owner.descr owner and identity = Owner.identity owner in
  is_standard fd || (identity >= 0 && Native.is_file identity)

let close owner =
  match Owner.close owner with
  | None -> false
  | Some closed ->
      if not (has_jobs owner) then Readiness.await_closed closed;
      begin match Concord.Promise.peek closed with
      | Some (Ok (Some e)) -> raise e
      | Some (Ok None) | Some (Error _) | None -> ()
      end;
      true

(* --- Turns ---------------------------------------------------------------- *)

(* How many operations more of this domain need not wait before the others have a turn. *)
let at_a_time = 128
let left = Domain.DLS.new_key (fun () -> ref at_a_time)

(* Before the operation: if the task is cancelled here, nothing has happened. Where a host
   refuses to suspend, there is nobody to give a turn to. *)
let give_turn () =
  let left = Domain.DLS.get left in
  decr left;
  if !left < 0 then begin
    left := at_a_time - 1;
    try Concord.Tools.Suspend.yield ()
    with e when Concord.Private.Reach.is_refusal e -> ()
  end

(* --- Operations ----------------------------------------------------------- *)

let never () = false

let check ~is_closing name =
  if is_closing () then raise (Unix.Unix_error (EBADF, name, ""))

let rec when_ready ~is_closing name owner direction f =
  check ~is_closing name;
  match Owner.using name owner f with
  | v -> v
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
      Readiness.wait ~is_closing owner direction;
      when_ready ~is_closing name owner direction f
  | exception Unix.Unix_error (EINTR, _, _) ->
      when_ready ~is_closing name owner direction f

let in_worker name owner f =
  Workers.run_protected Files (fun () -> Owner.using name owner f)

let perform ~is_closing name owner kind direction f =
  match kind with
  | File -> in_worker name owner f
  | Stream ->
      give_turn ();
      when_ready ~is_closing name owner direction f
  | Shared ->
      Readiness.wait ~is_closing owner direction;
      when_ready ~is_closing name owner direction f

(* As [Unix] does, which also checks what is no part of the bytes. *)
let max_bytes = 65536
let is_part b pos len = 0 <= pos && 0 <= len && pos <= Bytes.length b - len

(* A file's that is in memory need no worker. *)
let now_or_in_worker ~is_closing name owner now call =
  check ~is_closing name;
  give_turn ();
  match Owner.using name owner now with
  | -1 -> in_worker name owner call
  | n -> n

let read ~is_closing owner kind b pos len =
  let fd = Owner.descr owner in
  let read () = Unix.read fd b pos len in
  match kind with
  | File when is_part b pos len ->
      let len = Int.min len max_bytes in
      let now () = Native.read_now fd b pos len in
      now_or_in_worker ~is_closing "read" owner now read
  | File | Stream | Shared -> perform ~is_closing "read" owner kind Read read

(* A pipe that is ready takes so much without blocking. *)
let pipe_buf = 4096

let write ~is_closing owner kind b pos len =
  let fd = Owner.descr owner in
  match kind with
  | File when is_part b pos len ->
      let len = Int.min len max_bytes in
      let now () = Native.write_now fd b pos len in
      let write () = Unix.single_write fd b pos len in
      now_or_in_worker ~is_closing "write" owner now write
  | File | Stream | Shared ->
      let len =
        match kind with Shared -> Int.min len pipe_buf | File | Stream -> len
      in
      perform ~is_closing "write" owner kind Write (fun () ->
          Unix.single_write fd b pos len)
