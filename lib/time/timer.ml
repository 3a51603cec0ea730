let deadlines : Unix.file_descr Deadlines.t = Deadlines.create ()
let now () = Int64.to_int (Mtime_clock.now_ns ())
let run_due () = Deadlines.run_due deadlines ~now
let pending () = Deadlines.length deadlines

(* Whether the timers' thread may be calling actions: those are not among [deadlines] any
   more. Only that thread sets it; the others look here after they have seen that
   [deadlines] is empty. *)
let is_serving = Atomic.make false
let is_idle () = Deadlines.is_empty deadlines && not (Atomic.get is_serving)

(* The process that has a timers' thread. It is set when the thread is there, not before; the
   child of a fork has none. *)
let runs_in = Atomic.make 0
let is_there () = Atomic.set runs_in (Unix.getpid ())
let has_thread () = Atomic.get runs_in = Unix.getpid ()

(* --- The sleeper ---------------------------------------------------------- *)

let wake fd = ignore (Unix.write_substring fd "!" 0 1 : int)

(* [Unix.select] takes no more than an [int] of C. *)
let longest_sleep = 1e6

(* Returns when a thread wrote, when [until] has come, or for no reason. *)
let sleep fd ~until =
  (* [Unix.select] rounds down to microseconds. *)
  let seconds = float (until - now () + 999) *. 1e-9 in
  let seconds = Float.min longest_sleep (Float.max 0. seconds) in
  let consume () = ignore (Unix.read fd (Bytes.create 16) 0 16 : int) in
  match Unix.select [ fd ] [] [] seconds with
  | [], _, _ -> ()
  | _ -> consume ()
  | exception Unix.Unix_error (EINTR, _, _) -> ()
  | exception Unix.Unix_error (EINVAL, _, _) -> (
      (* The program has more open files than [select] can count. This way is
         late by some milliseconds more. The least is 0.001, as 0 means for ever. *)
      Unix.setsockopt_float fd SO_RCVTIMEO (Float.max 0.001 seconds);
      try consume ()
      with Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EINTR), _, _) -> ())

let rec serve ~to_read ~to_write =
  Atomic.set is_serving true;
  begin try run_due ()
  with e ->
    (* An action raised, against the contract; the others are called nevertheless. *)
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

(* The sleeper blocks all signals: the program's handlers may raise, which would end it.
   The descriptors are never closed: a thread may be about to wake the sleeper. *)
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
      (* A thread would keep this domain from ending. *)
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

(* The others take it for started: no signal handler may come between. *)
let start_surely ~process =
  Signals.while_blocked @@ fun _ ->
  if Deadlines.start_sleeper deadlines ~process then start_for None

(* Only the main domain can start a thread of its own. A domain for the sleeper
   would slow each minor collection of the others. *)
let start_early () =
  (* If it cannot be started, [after] will tell. *)
  try start_surely ~process:(Unix.getpid ())
  with Unix.Unix_error _ | Sys_error _ -> ()

let () =
  try Domain.before_first_spawn start_early
  with Invalid_argument _ -> (* the library was loaded late *) start_early ()

(* --- Timeouts ------------------------------------------------------------- *)

(* [process]: which process this is, and when that was last asked. Any thread
   replaces it by what it found out; which of several comes last does not matter. *)
type process = { number : int; at : int }

let process = Atomic.make { number = 0; at = 0 }

(* In nanoseconds; to fork takes longer, and a busy machine makes it longer still. Asking each
   time would double the cost of a timeout. *)
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
    (* Upwards: never earlier. *)
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
    (* The sleeper waits for its turn, perhaps for long. *)
    if Deadlines.may_be_due deadlines ~now then run_due ();
    fun () -> Deadlines.cancel deadlines key
  end

let after seconds action = at (deadline seconds) action
