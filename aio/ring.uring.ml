module By_fd = Multiplexer.By_fd

(* There is one request to the kernel for each descriptor and direction, and one answer to it.

   An answer says something about the request's file at that moment. So it belongs to the
   request, not to the number of the descriptor, which may be another file's by the time the
   answer is returned. *)
type request = {
  watch : watch;
  mutable wanted : bool;
      (** [false] if it was cancelled, so that its answer doesn't count, even if
          the answer is there already. *)
  mutable job : request Uring.job option;
      (** The kernel's job until it was answered. It is also [None] for the
          request of a cancellation. *)
}

and watch = {
  fd : Unix.file_descr;
  mutable reading : request option;
      (** The last request, until its answer was returned. *)
  mutable writing : request option;
}

type t = {
  ring : request Uring.t;
  mutable watches : watch By_fd.t;
      (** All watches with a request, and some without. *)
  mutable cancelling : int;
      (** How many requests were cancelled and are not answered. *)
  mutable found : (request * Multiplexer.ready) list;
      (** Answers that were not returned yet, latest first. *)
}

(* So many requests are passed to the kernel at a time. There may be any number in all. *)
let queue_depth = 128

(* Without these flags, the kernel interrupts the thread at any time to complete a request. For
   example, an unrelated [connect] would fail with [EINTR]. Linux has them since 5.19. *)
let flags = Uring.Setup_flags.(coop_taskrun + taskrun_flag)

(* --- Answers -------------------------------------------------------------- *)

(* After an error that isn't about the descriptor, the descriptor counts as ready. The task
   then tries its operation, which reports the error. *)
let ready result =
  match Uring.Res.int_result result with
  | Ok bits -> Multiplexer.ready_of_bits bits
  | Error EBADF -> Multiplexer.closed
  | Error _ -> Multiplexer.over

let answered t request =
  if Option.is_some request.job then begin
    request.job <- None;
    if not request.wanted then t.cancelling <- t.cancelling - 1
  end

let note t (answer : _ Uring.completion_option) =
  match answer with
  | None -> false
  | Some { result; data = request } ->
      if request.wanted && Option.is_some request.job then
        t.found <- (request, ready result) :: t.found;
      answered t request;
      true

let rec collect t = if note t (Uring.get_cqe_nonblocking t.ring) then collect t

(* --- Requests ------------------------------------------------------------- *)

(* The kernel may refuse new requests until its answers were taken. *)
let rec flush t =
  match Uring.submit t.ring with
  | _ -> ()
  | exception Unix.Unix_error ((EBUSY | EAGAIN | EINTR), _, _) ->
      collect t;
      flush t

let rec submit t prepare =
  match prepare t.ring with
  | Some job -> job
  | None ->
      (* The queue is full. *)
      flush t;
      submit t prepare

let ask t watch mask =
  let request = { watch; wanted = true; job = None } in
  let job = submit t (fun ring -> Uring.poll_add ring watch.fd mask request) in
  request.job <- Some job;
  Some request

(* The answer to a cancellation is ignored. If a signal handler raises, [cancel] is called
   again. If the handler raised while an answer was taken, that answer is lost. *)
let cancel t request =
  match request.job with
  | None -> request.wanted <- false
  | Some job -> (
      if request.wanted then begin
        request.wanted <- false;
        t.cancelling <- t.cancelling + 1
      end;
      let answer = { request with job = None } in
      match submit t (fun ring -> Uring.cancel ring job answer) with
      | (_ : _ Uring.job) -> ()
      | exception Invalid_argument _ -> answered t request)

let watch t fd =
  match By_fd.find_opt fd t.watches with
  | Some watch -> watch
  | None ->
      let watch = { fd; reading = None; writing = None } in
      t.watches <- By_fd.add fd watch t.watches;
      watch

let set t fd ~read ~write =
  let watch = watch t fd in
  let update request ~wanted mask =
    match request with
    | None when wanted -> ask t watch mask
    | Some request when not wanted ->
        cancel t request;
        None
    | unchanged -> unchanged
  in
  watch.reading <- update watch.reading ~wanted:read Uring.Poll_mask.pollin;
  watch.writing <- update watch.writing ~wanted:write Uring.Poll_mask.pollout;
  if not (read || write) then t.watches <- By_fd.remove fd t.watches

(* Waits until the kernel has let go of all files. Linux does that in the call that gives the
   answer, or before. So the answer comes soon, unless it was lost. *)
let rec settle t =
  if t.cancelling > 0 then begin
    flush t;
    collect t;
    if t.cancelling > 0 then
      if note t (Uring.wait ~timeout:0.1 t.ring) then settle t
      else t.cancelling <- 0
  end

(* The next [set] makes a new request. *)
let return (request, ready) =
  let { watch; _ } = request in
  let is_it = function Some r -> r == request | None -> false in
  if is_it watch.reading then watch.reading <- None
  else if is_it watch.writing then watch.writing <- None;
  (watch.fd, ready)

let is_wanted (request, _) = request.wanted

let wait t ~block =
  flush t;
  t.found <- List.filter is_wanted t.found;
  if block && List.is_empty t.found then
    ignore (note t (Uring.wait t.ring) : bool);
  collect t;
  let found = List.rev_map return t.found in
  t.found <- [];
  found

let create () =
  match Uring.create ~flags ~queue_depth () with
  | ring ->
      let t = { ring; watches = By_fd.empty; cancelling = 0; found = [] } in
      Some
        {
          Multiplexer.set = set t;
          wait = wait t;
          is_settled = (fun () -> t.cancelling = 0);
          settle = (fun () -> settle t);
        }
  | exception (Unix.Unix_error ((EMFILE | ENFILE), _, _) as e) -> raise e
  | exception Unix.Unix_error _ ->
      (* The kernel is too old, or io_uring is forbidden, as in many containers. *)
      None
