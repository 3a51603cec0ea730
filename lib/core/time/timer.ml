let deadlines : Unix.file_descr Deadlines.t = Deadlines.create ()
let now () = Int64.to_int (Mtime_clock.now_ns ())
let run_due () = Deadlines.run_due deadlines ~now
let pending () = Deadlines.length deadlines

(* Is the timers' thread calling actions? While it does, those actions are no longer in
   [deadlines]. Only that thread changes this. Other threads read it only after they have seen
   that [deadlines] is empty. *)
let is_serving = Atomic.make false
let is_idle () = Deadlines.is_empty deadlines && not (Atomic.get is_serving)

(* The process that has a timers' thread. It is set once the thread exists. The child of a fork
   doesn't have the thread. *)
let runs_in = Atomic.make 0
let is_there () = Atomic.set runs_in (Unix.getpid ())
let has_thread () = Atomic.get runs_in = Unix.getpid ()

let () =
  Helpers.add ~is_idle (fun () ->
      { idle = Bool.to_int (has_thread ()); busy = 0 })

(* --- The sleeper ---------------------------------------------------------- *)

let wake fd = ignore (Unix.write_substring fd "!" 0 1 : int)

(* [Unix.select] fails if the seconds exceed an [int] of C. *)
let longest_sleep = 1e6

(* Returns when a thread writes to [fd], at [until], or earlier for no reason. *)
let sleep fd ~until =
  (* [Unix.select] rounds down to microseconds, so round up here. *)
  let seconds = float (until - now () + 999) *. 1e-9 in
  let seconds = Float.min longest_sleep (Float.max 0. seconds) in
  let consume () = ignore (Unix.read fd (Bytes.create 16) 0 16 : int) in
  match Unix.select [ fd ] [] [] seconds with
  | [], _, _ -> ()
  | _ -> consume ()
  | exception Unix.Unix_error (EINTR, _, _) -> ()
  | exception Unix.Unix_error (EINVAL, _, _) -> (
      (* The program has more open files than [select] can handle. A timeout of the socket is
         some milliseconds less exact. Its minimum is 0.001, because 0 means no timeout. *)
      Unix.setsockopt_float fd SO_RCVTIMEO (Float.max 0.001 seconds);
      try consume ()
      with Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EINTR), _, _) -> ())

let rec serve ~to_read ~to_write =
  Atomic.set is_serving true;
  begin try run_due ()
  with e ->
    (* An action must not raise. If one does, report it and call the others. *)
    let backtrace = Printexc.get_raw_backtrace () in
    Printexc.default_uncaught_exception_handler e backtrace
  end;
  Atomic.set is_serving false;
  begin match Deadlines.fall_asleep deadlines ~now:(now ()) to_write with
  | Some until -> sleep to_read ~until
  | None -> ()
  end;
  serve ~to_read ~to_write

(* --- Starting it ---------------------------------------------------------- *)

(* The sleeper blocks all signals, because an exception of the program's handlers would end it.
   The descriptors are never closed, because another thread may be about to wake the sleeper. *)
let start () =
  let to_read, to_write =
    Unix.socketpair ~cloexec:true Unix.PF_UNIX Unix.SOCK_STREAM 0
  in
  let run () =
    is_there ();
    serve ~to_read ~to_write
  in
  Signals.while_blocked @@ fun _ ->
  try
    if Domain.is_main_domain () then ignore (Thread.create run () : Thread.t)
    else
      (* A thread would keep this domain from terminating. *)
      ignore (Domain.spawn run : unit Domain.t);
    is_there ()
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    Unix.close to_read;
    Unix.close to_write;
    Printexc.raise_with_backtrace e backtrace

let start_for key =
  try start ()
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    Deadlines.start_failed deadlines key;
    Printexc.raise_with_backtrace e backtrace

(* Unbroken from [start_sleeper] to the start, because other threads assume that the sleeper
   exists. *)
let start_surely ~process =
  Signals.while_blocked @@ fun _ ->
  if Deadlines.start_sleeper deadlines ~process then start_for None

(* Only the main domain can run the sleeper as a thread. Another domain has to spawn a domain
   for it, which would slow down the other domains' minor collections. So start the sleeper
   before the first domain is spawned. *)
let start_early () =
  (* If it can't be started, [after] raises that exception later. *)
  try start_surely ~process:(Unix.getpid ())
  with Unix.Unix_error _ | Sys_error _ -> ()

let () =
  try Domain.before_first_spawn start_early
  with Invalid_argument _ ->
    (* The library was loaded after the first spawn. *) start_early ()

(* --- Timeouts ------------------------------------------------------------- *)

(* The number of the current process, and the time when the system was last asked for it. Any
   thread replaces the record by what it found out. If several do so at once, it doesn't matter
   which one is last. *)
type process = { number : int; at : int }

let process = Atomic.make { number = 0; at = 0 }

(* In nanoseconds. A fork takes longer, even more on a busy machine, so a number that was asked
   for more recently is still right. Asking each time would double the cost of a timeout. *)
let time_to_fork = 10_000

let current_process ~now =
  let { number; at } = Atomic.get process in
  if now - at <= time_to_fork then number
  else
    let number = Unix.getpid () in
    Atomic.set process { number; at = now };
    number

let longest = 1e9
let never = max_int

let deadline seconds =
  if not (seconds <= longest) then never
  else
    (* Round up, so that a timeout never comes too early. *)
    let ns = Float.ceil (Float.succ (Float.max 0. seconds *. 1e9)) in
    now () + int_of_float ns

let has_passed deadline = now () >= deadline

let seconds_until deadline =
  if deadline = never then infinity
  else Float.max 0. (float (deadline - now ()) *. 1e-9)

let at deadline action =
  if deadline = never then ignore
  else begin
    let now = now () in
    let process = current_process ~now in
    if Deadlines.lacks_sleeper deadlines ~process then start_surely ~process;
    let key, owed = Deadlines.add deadlines ~process ~deadline action in
    begin match owed with
    | Nobody -> start_for (Some key)
    | Awake -> ()
    | Asleep asleep ->
        wake asleep.wake;
        Deadlines.woken asleep
    end;
    (* The sleeper may have to wait long until it runs, so don't leave it to the sleeper. *)
    if Deadlines.may_be_due deadlines ~now then run_due ();
    fun () -> Deadlines.cancel deadlines key
  end

let after seconds action = at (deadline seconds) action
