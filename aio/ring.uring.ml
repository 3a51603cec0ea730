module By_fd = Multiplexer.By_fd

(* The kernel is asked once for each descriptor and direction, and answers once. *)
type request = {
  watch : watch;
  mutable wanted : bool;  (** Not cancelled: its answer counts. *)
  mutable job : request Uring.job option;
      (** Until it was answered; [None] also of a cancellation. *)
}

and watch = {
  fd : Unix.file_descr;
  mutable reading : request option;
  mutable writing : request option;
}

type t = {
  ring : request Uring.t;
  mutable watches : watch By_fd.t;  (** Those with a request, and some more. *)
  mutable cancelling : int;
      (** How many requests were cancelled and are not answered. *)
  mutable found : (Unix.file_descr * Multiplexer.ready) list;
      (** Not yet returned; latest first. *)
}

(* So many requests are passed to the kernel at a time; there may be any number. *)
let queue_depth = 128

(* Without these flags the kernel interrupts the thread, whatever it does, to complete a
   request: an unrelated [connect], say, would fail with [EINTR]. Linux has them since
   5.19. *)
let flags = Uring.Setup_flags.(coop_taskrun + taskrun_flag)

(* --- Answers -------------------------------------------------------------- *)

(* After an error that is none of the descriptor's the task tries, and will see. *)
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
  | Some { result; data = { watch; wanted; _ } as request } ->
      let is_it = function Some r -> r == request | None -> false in
      if wanted then begin
        t.found <- (watch.fd, ready result) :: t.found;
        if is_it watch.reading then watch.reading <- None
        else if is_it watch.writing then watch.writing <- None
      end;
      answered t request;
      true

let rec collect t = if note t (Uring.get_cqe_nonblocking t.ring) then collect t

(* --- Requests ------------------------------------------------------------- *)

(* The kernel may want its answers to be taken first. *)
let rec flush t =
  match Uring.submit t.ring with
  | _ -> ()
  | exception Unix.Unix_error ((EBUSY | EAGAIN | EINTR), _, _) ->
      collect t;
      flush t

let rec submit t prepare =
  match prepare t.ring with
  | Some job -> job
  | None (* the queue is full *) ->
      flush t;
      submit t prepare

let ask t watch mask =
  let request = { watch; wanted = true; job = None } in
  let job = submit t (fun ring -> Uring.poll_add ring watch.fd mask request) in
  request.job <- Some job;
  Some request

(* Nobody wants the answer to a cancellation. If a signal handler raises, this is done again;
   and what it raised while an answer was taken has that lost. *)
let cancel t request =
  let give_up job =
    if request.wanted then begin
      request.wanted <- false;
      t.cancelling <- t.cancelling + 1
    end;
    let answer = { request with job = None } in
    match submit t (fun ring -> Uring.cancel ring job answer) with
    | (_ : _ Uring.job) -> ()
    | exception Invalid_argument _ -> answered t request
  in
  Option.iter give_up request.job

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

(* Linux lets go of the file in the call that gives the answer, or before. So it comes soon,
   unless it was lost. *)
let rec settle t =
  if t.cancelling > 0 then begin
    flush t;
    collect t;
    if t.cancelling > 0 then
      if note t (Uring.wait ~timeout:0.1 t.ring) then settle t
      else t.cancelling <- 0
  end

let wait t ~block =
  flush t;
  if block && t.found = [] then ignore (note t (Uring.wait t.ring) : bool);
  collect t;
  let found = List.rev t.found in
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
      (* too old, or forbidden: containers often do *)
      None
