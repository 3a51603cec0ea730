(* [state], the only Atomic here: twice the number of operations, plus one if it is closed

   Left by  To         By whom
   2n       2n + 2     an operation that begins
   2n       2n + 1     the one [close] that returns [true]; if n = 0 it closes the
                       descriptor, else it has the operations woken
   2n + 2   2n         an operation that ends
   2n + 3   2n + 1     the same; if n = 0 it closes the descriptor
   1        (never)

   Whoever comes to 1 closes the descriptor, once. *)
type t = {
  fd : Unix.file_descr;
  kind : kind;
  state : int Atomic.t;
  is_closing : unit -> bool;
}

and kind = File | Stream | Shared

let closed = 1

let kind ~shared fd =
  match Descriptor.is_file fd with
  | true -> File
  | false when shared -> Shared
  | exception Unix.Unix_error _ when shared ->
      (* A program may have been started without: its operations raise. *)
      Shared
  | false ->
      Unix.set_nonblock fd;
      Stream

let create ~shared fd =
  let kind = kind ~shared fd and state = Atomic.make 0 in
  { fd; kind; state; is_closing = (fun () -> Atomic.get state land closed = 1) }

let is_file t = match t.kind with File -> true | Stream | Shared -> false
let descr t = t.fd
let is_closed t = t.is_closing ()
let close_now t = try Unix.close t.fd with Unix.Unix_error (EINTR, _, _) -> ()

let rec close t =
  let before = Atomic.get t.state in
  if before land closed = 1 then false
  else if Atomic.compare_and_set t.state before (before + closed) then begin
    if before = 0 then close_now t else Readiness.forget t.fd;
    true
  end
  else (* an operation began or ended, or another task closed *) close t

let rec enter name t =
  let before = Atomic.get t.state in
  if before land closed = 1 then raise (Unix.Unix_error (EBADF, name, ""))
  else if not (Atomic.compare_and_set t.state before (before + 2)) then
    (* as above *) enter name t

let leave t = if Atomic.fetch_and_add t.state (-2) = closed + 2 then close_now t

let using name t f =
  enter name t;
  match f () with
  | v ->
      leave t;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      leave t;
      Printexc.raise_with_backtrace e backtrace

let wait t direction = Readiness.wait ~is_closing:t.is_closing t.fd direction

let rec when_ready t direction f =
  match f () with
  | v -> v
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
      wait t direction;
      when_ready t direction f
  | exception Unix.Unix_error (EINTR, _, _) -> when_ready t direction f

let operate name t direction f =
  using name t @@ fun () ->
  match t.kind with
  | File -> Workers.run_protected f
  | Stream -> when_ready t direction f
  | Shared ->
      wait t direction;
      when_ready t direction f

let read t b pos len =
  operate "read" t Read (fun () -> Unix.read t.fd b pos len)

(* A pipe that is ready takes so much without blocking. *)
let pipe_buf = 4096

let write t b pos len =
  let len =
    match t.kind with Shared -> Int.min len pipe_buf | File | Stream -> len
  in
  operate "write" t Write (fun () -> Unix.single_write t.fd b pos len)

let position t =
  if is_file t then using "lseek" t (fun () -> Unix.lseek t.fd 0 SEEK_CUR)
  else 0

let seek t position =
  using "lseek" t (fun () -> ignore (Unix.lseek t.fd position SEEK_SET : int))

(* The size, and not where a seek to the end would come to: another task may be reading. *)
let length t =
  using "lseek" t @@ fun () ->
  (* what cannot be sought in has no length *)
  ignore (Unix.lseek t.fd 0 SEEK_CUR : int);
  Int64.to_int (Unix.LargeFile.fstat t.fd).st_size
