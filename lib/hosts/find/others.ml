(* Linux lists the threads of a process. Among them are those that run no code of the
   program: the timers' thread; one with which OCaml takes turns between the threads of
   the main domain, once there was a second thread; and one that stands in for the main
   domain while that waits, once there was a second domain. A thread or a domain that
   runs brings such threads of its own: it is not overlooked, but for a thread of C that
   was started before any other thread.

   A folder has a link from each of its subfolders, so the system counts the threads at
   once. A list of the folder is too short if a thread ends just when the list has come to
   it: those that began later are then left out. *)
let threads () =
  match Unix.stat "/proc/self/task" with
  | { st_nlink; _ } when st_nlink > 2 -> st_nlink - 2
  | _ | (exception Unix.Unix_error _) -> max_int

(* The calling one, and the one with which OCaml takes turns. The child of a fork has none
   that takes turns, if its parent had one: OCaml takes it for running. *)
let started_in = Unix.getpid ()
let own () = if Unix.getpid () = started_in then 2 else 1

type helpers = { idle : int; busy : int }

let helpers : (unit -> helpers) list Atomic.t = Atomic.make []
let add_helpers ask = Atomically.update helpers (List.cons ask)

let ask_helpers () =
  let add all ask =
    let { idle; busy } = ask () in
    { idle = all.idle + idle; busy = all.busy + busy }
  in
  List.fold_left add { idle = 0; busy = 0 } (Atomic.get helpers)

(* A helper that has just resumed somebody needs a turn, or two, to become idle; or, if
   the system has to wake its thread first, a moment. Where that is not enough, because the
   machine is busy, it counts as one that may wake somebody: a deadlock is found later. *)
let turns = 20

let let_go_on ~turns =
  if turns > 10 then Thread.yield () else Thread.delay 0.000_1

type known = { idle_or_asleep : int; may_soon : int }

(* Threads that will wake nobody. *)
let known () =
  let { idle; busy } = ask_helpers () in
  let timers = Bool.to_int (Timer.has_thread ()) in
  { idle_or_asleep = idle + timers; may_soon = busy }

(* Those that are known are looked at before the threads are counted, and again after it. One
   that begins in between is not among all. One that does not do nothing any more was asked
   by a thread that is, and that may have ended since, as may one that has set a timeout:
   the helper, or the timeout, is seen then. A helper that has resumed somebody and is idle
   since is the caller's to see, who looks again whether anybody is ready. *)
let rec other_threads ?(turns = turns) ~asleep () =
  let were_spawned = Domains.were_spawned () in
  let before = known () in
  let all = threads () in
  let after = known () in
  let waiting =
    own () + asleep
    + Int.min before.idle_or_asleep after.idle_or_asleep
    + Bool.to_int were_spawned
  in
  if all > waiting && all <= waiting + after.may_soon && turns > 0 then begin
    let_go_on ~turns;
    other_threads ~turns:(turns - 1) ~asleep ()
  end
  else if all <= waiting && Domains.may_be_spawning () then begin
    (* the main domain has no stand-in yet, and another thread is taken for it *)
    Thread.delay 0.001;
    other_threads ~turns ~asleep ()
  end
  else all > waiting

(* In this order: see [other_threads]. *)
let may_wake ~asleep = other_threads ~asleep () || not (Timer.is_idle ())

(* OCaml itself catches SIGSEGV, signal 11, and the threads of C some above 31. *)
let of_the_program caught =
  Int64.logand caught 0x7fff_ffffL <> Int64.shift_left 1L 10
  && Int64.logand caught 0x7fff_ffffL <> 0L

let handle_signals () =
  let line_of input =
    let rec find () =
      match input_line input with
      | line -> (
          match String.split_on_char '\t' line with
          | [ "SigCgt:"; caught ] ->
              of_the_program (Int64.of_string ("0x" ^ caught))
          | _ -> find ())
      | exception End_of_file -> true
    in
    find ()
  in
  try In_channel.with_open_bin "/proc/self/status" line_of
  with Sys_error _ | Failure _ -> true

(* --- A program with nothing else -------------------------------------------- *)

(* Set once another thread, domain or signal handler was seen. So a program that has them
   looks once, and from then on a thread that waits reads this only. *)
let was_seen = Atomic.make false
let[@inline] may_be_alone () = not (Atomic.get was_seen)

(* More careful than [other_threads]: nobody asked for this. While no thread is known that
   OCaml runs, there is none that takes turns either: then a second one, of C, may call
   OCaml later. One that a thread of the program has left counts as another one. *)
let has_another_thread () =
  let { idle_or_asleep; _ } = known () in
  threads () > if idle_or_asleep = 0 then 1 else own () + idle_or_asleep

(* A timeout that is pending is no company for long: it is looked for first. And last, as
   in [may_wake]. *)
let is_alone () =
  may_be_alone () && Timer.is_idle ()
  &&
  if
    has_another_thread () || handle_signals ()
    (* Last: to count the threads lets others run, which may spawn one. *)
    || Domains.were_spawned ()
  then begin
    Atomic.set was_seen true;
    false
  end
  else Timer.is_idle ()
