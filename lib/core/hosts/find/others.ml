(* Linux lists the threads of a process. Some of them run no code of the program:

   - the timers' thread
   - the tick thread, which makes OCaml switch between the threads of the main domain, and
     which exists once there was a second thread
   - the backup thread, which stands in for the main domain while that waits, and which exists
     once there was a second domain

   If a thread or a domain runs, its tick or backup thread exists too, so subtracting these
   overlooks no thread of OCaml. It overlooks only a thread of C that was started before any
   other thread.

   A folder has one link for each subfolder, so [st_nlink] counts all threads at once. A
   listing of the folder could be too short. If a thread ends just when the listing has come to
   it, the listing lacks all threads that began later. *)
let threads () =
  match Unix.stat "/proc/self/task" with
  | { st_nlink; _ } when st_nlink > 2 -> st_nlink - 2
  | _ | (exception Unix.Unix_error _) -> max_int

(* The calling thread and the tick thread. If a process had a tick thread, its forked child has
   none, because OCaml believes there that the thread still runs. *)
let started_in = Unix.getpid ()
let own () = if Unix.getpid () = started_in then 2 else 1

(* A helper that has just resumed a task needs one or two turns to become idle. If the system
   has to wake the helper's thread first, it needs a moment longer. On a busy machine this may
   not be enough. Then the helper counts as a thread that may wake a task, and a deadlock is
   found later. *)
let turns = 20

let let_go_on ~turns =
  if turns > 10 then Thread.yield () else Thread.delay 0.000_1

(* The helpers are asked before and after the threads are counted, and the smaller number of
   idle ones counts. There are three cases to consider:

   - A helper that begins in between is not in [all], so it must not be subtracted.
   - A thread may ask an idle helper, or set a timeout, and end before it is counted. The
     second question sees that helper busy, and [may_wake] sees the timeout.
   - A helper may have resumed a task, and be idle again. The caller notices this, because it
     checks again whether a task is ready. *)
let rec other_threads ?(turns = turns) ~asleep () =
  let were_spawned = Domains.were_spawned () in
  let before = Helpers.ask () in
  let all = threads () in
  let after = Helpers.ask () in
  let waiting =
    own () + asleep + Int.min before.idle after.idle + Bool.to_int were_spawned
  in
  if all > waiting && all <= waiting + after.busy && turns > 0 then begin
    let_go_on ~turns;
    other_threads ~turns:(turns - 1) ~asleep ()
  end
  else if all <= waiting && Domains.may_be_spawning () then begin
    (* The main domain has no backup thread yet, so another thread was taken for it. *)
    Thread.delay 0.001;
    other_threads ~turns ~asleep ()
  end
  else all > waiting

(* The timeouts are checked last, for the reason given at [other_threads]. *)
let may_wake ~asleep = other_threads ~asleep () || not (Helpers.are_idle ())

(* Signals that OCaml itself catches don't count. These are SIGSEGV (signal 11), and signals
   above 31, which threads of C use. *)
let of_the_program caught =
  Int64.logand caught 0x7fff_ffffL <> Int64.shift_left 1L 10
  && Int64.logand caught 0x7fff_ffffL <> 0L

let handle_signals () =
  let caught line =
    match String.split_on_char '\t' line with
    | [ "SigCgt:"; caught ] -> Some (Int64.of_string ("0x" ^ caught))
    | _ -> None
  in
  match
    In_channel.(with_open_bin "/proc/self/status" input_lines)
    |> List.find_map caught
  with
  | Some caught -> of_the_program caught
  | None | (exception (Sys_error _ | Failure _)) -> true

(* --- A program with nothing else -------------------------------------------- *)

(* Set once another thread, domain or signal handler was seen. A program that has any of these
   searches for them only once. From then on, a thread that waits reads only this. *)
let was_seen = Atomic.make false
let[@inline] may_be_alone () = not (Atomic.get was_seen)

(* This counts more carefully than [other_threads], because it runs in every program. While no
   other thread of OCaml is known, there is no tick thread either. A second thread is then one
   of C, which may call OCaml later. If a tick thread is left because another thread of the
   program has ended, it counts as another thread. *)
let has_another_thread () =
  let { Helpers.idle; _ } = Helpers.ask () in
  threads () > if idle = 0 then 1 else own () + idle

(* A pending timeout must not set [was_seen], because it is soon over. So the timeouts are
   checked first. They are also checked last, as in [may_wake]. *)
let is_alone () =
  may_be_alone () && Helpers.are_idle ()
  &&
  if
    has_another_thread () || handle_signals ()
    (* Checked last, because counting the threads lets other threads run, and one of them may
       spawn a domain. *)
    || Domains.were_spawned ()
  then begin
    Atomic.set was_seen true;
    false
  end
  else Helpers.are_idle ()
