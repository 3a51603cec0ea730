module Timer = Concord__core__Timer
open Concord
open Concord_test_support
open Check

(* The time in seconds, by the clock that the timeouts use. *)
let now () = Int64.to_float (Mtime_clock.now_ns ()) *. 1e-9
let ignored : (unit -> unit) -> unit = ignore
let after seconds action = ignored (Timer.after seconds action)
let all_fired fired n = eventually "all fire" (fun () -> Atomic.get fired >= n)
let count fired () = Atomic.incr fired

(* Returns after everything has fired that was due at the call, on any thread. *)
let pass seconds =
  let fired = Atomic.make 0 in
  after seconds (count fired);
  all_fired fired 1

(* --- When timeouts fire --------------------------------------------------- *)

(* Records when each timeout was set and the order in which they fired. Each deadline lies
   between two known times. *)
let rec order () =
  let n = 1000 and started = now () in
  let fired = Atomic.make 0 and log = ref [] in
  let set i seconds =
    let least = now () +. seconds in
    let most = ref 0. in
    after seconds (fun () ->
        log := (i, least, !most) :: !log;
        Atomic.incr fired);
    most := now () +. seconds
  in
  for i = 0 to n - 1 do
    set i (0.1 +. (float (i * 617 mod n) *. 5e-5))
  done;
  for i = n to (2 * n) - 1 do
    set i 0.16
  done;
  let in_time = now () -. started < 0.1 in
  all_fired fired (2 * n);
  let log = List.rev !log in
  let check_one reached (_, least, most) =
    if most < reached then Alcotest.fail "not in the order of the deadlines";
    Float.max reached least
  in
  let same =
    List.filter (fun i -> i >= n) (List.map (fun (i, _, _) -> i) log)
  in
  if in_time then begin
    ignore (List.fold_left check_one 0. log : float);
    Alcotest.(check (list int)) "as set" (List.init n (fun i -> n + i)) same
  end
  else
    (* some of them may have fired in this thread, next to the other thread *)
    order ()

let never_early () =
  let n = 500 in
  let fired = Atomic.make 0 in
  let early = Atomic.make 0 in
  for i = 1 to n do
    let seconds = float (i * 7 mod 20) *. 1.0001e-3 in
    let set = now () in
    after seconds (fun () ->
        if now () -. set < seconds then Atomic.incr early;
        Atomic.incr fired)
  done;
  all_fired fired n;
  int "early" 0 (Atomic.get early)

let sooner_than_the_sleep () =
  let cancel = Timer.after 1000. ignore in
  pass 0.02;
  (* The sleeper has checked the deadlines, and sleeps until the one above. *)
  pass 0.001;
  pass 0.;
  pass (-1.);
  cancel ();
  pass 0.001

let never () =
  let fired = Atomic.make 0 in
  let before = Timer.pending () in
  let cancels =
    List.map
      (fun seconds -> Timer.after seconds (count fired))
      [ infinity; 1e300; 2e9; nan ]
  in
  int "nothing is kept" before (Timer.pending ());
  let far = Timer.after 1e9 (count fired) in
  pass 0.01;
  int "fired" 0 (Atomic.get fired);
  List.iter (fun cancel -> cancel ()) (far :: cancels);
  int "pending" before (Timer.pending ())

(* --- Cancelling ----------------------------------------------------------- *)

(* Repeats if the machine was so busy that they may have fired before they were cancelled. *)
let rec cancelled_before () =
  let before = Timer.pending () and started = now () in
  let fired = Atomic.make 0 and passed = Atomic.make 0 in
  let cancel = Timer.after 0.2 (count fired) in
  let here = Timer.after 0.201 (count fired) in
  let other = Timer.after 0.25 (count passed) in
  cancel ();
  cancel ();
  in_domain here;
  let in_time = now () -. started < 0.2 in
  all_fired passed 1;
  if in_time then begin
    int "fired" 0 (Atomic.get fired);
    other ();
    cancel ();
    int "the other one" 1 (Atomic.get passed);
    int "pending" before (Timer.pending ())
  end
  else cancelled_before ()

let in_a_loop () =
  let before = Timer.pending () in
  let fired = Atomic.make 0 in
  for _ = 1 to 20_000 do
    (Timer.after 0.005 (count fired)) ()
  done;
  int "pending" before (Timer.pending ());
  pass 0.01;
  (* A few may have fired, because the system stopped this thread before it cancelled them. *)
  yes "few fired" (Atomic.get fired < 100)

let many () =
  let n = 100_000 in
  pass 0.;
  let threads = Concord_test_proc.threads () in
  let before = Timer.pending () in
  let kept = Weak.create n in
  let set i =
    let captured = ref i in
    Weak.set kept i (Some captured);
    Timer.after (100. +. float (i * 7919 mod n)) (fun () -> incr captured)
  in
  let cancels = Array.init n set in
  int "pending" (before + n) (Timer.pending ());
  (* This one comes sooner than all others. *)
  pass 0.001;
  int "threads" threads (Concord_test_proc.threads ());
  let alive () =
    Gc.full_major ();
    let alive = ref 0 in
    for i = 0 to n - 1 do
      if Weak.check kept i then incr alive
    done;
    !alive
  in
  int "all are kept" n (alive ());
  Array.iteri (fun i cancel -> if i mod 2 = 0 then cancel ()) cancels;
  int "pending" (before + (n / 2)) (Timer.pending ());
  int "half are kept" (n / 2) (alive ());
  Array.iter (fun cancel -> cancel ()) cancels;
  int "pending" before (Timer.pending ());
  int "none is kept" 0 (alive ());
  yes "the cancels are" (Array.length (Sys.opaque_identity cancels) = n)

let forgets_the_fired () =
  let kept = Weak.create 1 in
  let fired = Atomic.make 0 in
  let set () =
    let captured = ref 0 in
    Weak.set kept 0 (Some captured);
    Timer.after 0.001 (fun () ->
        incr captured;
        Atomic.incr fired)
  in
  let cancel = set () in
  all_fired fired 1;
  eventually "the action is collected" (fun () ->
      Gc.full_major ();
      not (Weak.check kept 0));
  cancel ()

(* --- Races ---------------------------------------------------------------- *)

(* Each of two domains sets timeouts, and cancels those of the other when some of them are
   due. How many are due depends on the machine. If it is so busy that all are, the next
   attempt sets them further apart. *)
let rec race ?(apart = 2e-6) () =
  let n = 4000 and before = Timer.pending () in
  let fired = Array.init 2 (fun _ -> Array.init n (fun _ -> Atomic.make 0)) in
  let cancels = Array.init 2 (fun _ -> Array.make n ignore) in
  let late = Array.make_matrix 2 n false in
  let set_all me =
    for i = 0 to n - 1 do
      let cell = fired.(me).(i) in
      let seconds = float (i * 617 mod n) *. apart in
      cancels.(me).(i) <- Timer.after seconds (fun () -> Atomic.incr cell)
    done
  in
  let cancel_all me =
    let other = 1 - me in
    for i = 0 to n - 1 do
      if i mod 4 <> 0 then begin
        late.(me).(i) <- Atomic.get fired.(other).(i) > 0;
        cancels.(other).(i) ()
      end
    done
  in
  let barrier = Atomic.make 0 in
  let actor me () =
    set_all me;
    Atomic.incr barrier;
    while Atomic.get barrier < 2 do
      Domain.cpu_relax ()
    done;
    cancel_all me
  in
  let join = domain (actor 1) in
  actor 0 ();
  join ();
  eventually "nothing is pending" (fun () -> Timer.pending () = before);
  pass 0.;
  let outcomes = Array.make 3 0 in
  let look me i cell =
    let times = Atomic.get cell in
    let must = i mod 4 = 0 || late.(1 - me).(i) in
    if times > 1 || (must && times = 0) then
      Alcotest.failf "timeout %d of %d fired %d times" i me times;
    if i mod 4 <> 0 then outcomes.(times) <- outcomes.(times) + 1
  in
  Array.iteri (fun me cells -> Array.iteri (look me) cells) fired;
  if outcomes.(0) = 0 && apart < 3e-4 then race ~apart:(4. *. apart) ()
  else begin
    yes "some were cancelled" (outcomes.(0) > 0);
    yes "some were not" (outcomes.(1) > 0)
  end

(* Several threads call due actions, and each action must be called once. *)
let run_by_all () =
  let n = 20_000 in
  let fired = Array.init n (fun _ -> Atomic.make 0) in
  let total = Atomic.make 0 in
  let set i =
    after 0.05 (fun () ->
        Atomic.incr fired.(i);
        Atomic.incr total)
  in
  for i = 0 to n - 1 do
    set i
  done;
  let run () =
    while Atomic.get total < n do
      Timer.run_due ()
    done
  in
  let join = domain run in
  run ();
  join ();
  pass 0.;
  Array.iter (fun times -> int "times" 1 (Atomic.get times)) fired

(* The timer's own thread would run a twentieth of a second later, because this thread is
   busy. So the calls on this thread must run due actions. *)
let busy () =
  let late seconds run =
    let fired = ref false and set = now () in
    after seconds (fun () -> fired := true);
    while not !fired do
      run ()
    done;
    now () -. set -. seconds
  in
  let best run =
    List.init 9 (fun _ -> late 0.003 run) |> List.fold_left min 1.
  in
  yes "run_due" (best Timer.run_due < 0.01);
  yes "after" (best (fun () -> (Timer.after 1. ignore) ()) < 0.01)

(* --- Whole programs ------------------------------------------------------- *)

(* Each program runs in a process of its own. It succeeds if it soon ends with status 0. *)

let fires seconds =
  let fired = Atomic.make 0 in
  after seconds (count fired);
  let deadline = now () +. 5. in
  while Atomic.get fired = 0 && now () < deadline do
    Thread.delay 0.001
  done;
  Atomic.get fired = 1

let expect what holds =
  if not holds then begin
    prerr_endline ("not so: " ^ what);
    Unix._exit 1
  end

let exits () = after 1000. ignore
let exits_unused () = ()

let domain_ends () =
  let fired = Atomic.make 0 in
  let from_thread () =
    Thread.delay 0.02;
    after 0.02 (count fired)
  in
  let first () =
    after 1000. ignore;
    after 0.3 (count fired);
    (* This thread lives longer than the domain's own thread. *)
    ignore (Thread.create from_thread () : Thread.t)
  in
  let began = now () in
  Domain.join (Domain.spawn first);
  (* On a busy machine, both may be due by now. *)
  expect "joined before any is due"
    (Atomic.get fired < 2 || now () -. began > 0.3);
  let deadline = now () +. 5. in
  while Atomic.get fired < 2 && now () < deadline do
    Thread.delay 0.001
  done;
  expect "timeouts outlive their domain" (Atomic.get fired = 2)

(* Ends the program even if it hangs. *)
let end_in_time () = ignore (Unix.alarm 25 : int)

let in_child f =
  match Unix.fork () with
  | 0 ->
      end_in_time ();
      f ();
      exit 0
  | pid -> expect "the child succeeds" (snd (Unix.waitpid [] pid) = WEXITED 0)

let forks () =
  let fired = Atomic.make 0 in
  in_child (fun () -> expect "before the first" (fires 0.001));
  after 0.05 (count fired);
  (* A deadline later than the one that the parent's sleeper waits for. *)
  in_child (fun () ->
      expect "in the child" (fires 0.1);
      expect "the pending one" (Atomic.get fired = 1);
      in_child (fun () -> expect "in its child" (fires 0.001)));
  expect "in the parent" (fires 0.001);
  expect "pending in the parent" (Atomic.get fired = 1)

exception Signalled

(* A handler must not run in the timer's thread, because its exception would end the thread. *)
let signals () =
  let here = Thread.id (Thread.self ()) in
  let elsewhere = Atomic.make 0 in
  let handle _ =
    if Thread.id (Thread.self ()) <> here then Atomic.incr elsewhere;
    raise Signalled
  in
  Sys.set_signal Sys.sigusr1 (Signal_handle handle);
  expect "before" (fires 0.001);
  let mask how = ignore (Thread.sigmask how [ Sys.sigusr1 ] : int list) in
  for _ = 1 to 20 do
    (* With the signal blocked here, any other thread that doesn't block it would get it. *)
    mask SIG_BLOCK;
    Unix.kill (Unix.getpid ()) Sys.sigusr1;
    expect "after a signal" (fires 0.001);
    match mask SIG_UNBLOCK with () -> () | exception Signalled -> ()
  done;
  int "handled in another thread" 0 (Atomic.get elsewhere)

let open_files n =
  List.init n (fun _ -> Unix.openfile "/dev/null" [ O_RDONLY; O_CLOEXEC ] 0)

(* The limit is 4096 files, which is more than [Unix.select] can handle. *)
let many_files () =
  let files = open_files 1100 in
  expect "the first" (fires 0.01);
  after 1000. ignore;
  expect "sooner than the sleep" (fires 0.001);
  List.iter Unix.close files

(* The limit is 30 files. *)
let no_files () =
  let rec open_all files =
    match open_files 1 with
    | [ file ] -> open_all (file :: files)
    | _ | (exception Unix.Unix_error (EMFILE, _, _)) -> files
  in
  let files = open_all [] in
  let refused =
    match Timer.after 0.001 ignore with
    | (_ : unit -> unit) -> false
    | exception Unix.Unix_error (EMFILE, _, _) -> true
  in
  expect "refused" refused;
  let box = Mvar.create_empty () in
  let wait () = Event.sync_before 0.001 (Mvar.take_evt box) in
  let waits =
    match wait () with
    | (_ : unit option) -> true
    | exception Unix.Unix_error (EMFILE, _, _) -> false
  in
  expect "a wait with a limit is refused" (not waits);
  expect "no task waits" (Mvar.waiters box = 0);
  expect "nothing is pending" (Timer.pending () = 0);
  List.iter Unix.close files;
  expect "once there are files" (fires 0.001);
  expect "a wait with a limit, then" (wait () = None)

(* The timer's thread must sleep while it has nothing to do. *)
let idle () =
  let times () =
    let t = Unix.times () in
    t.tms_utime +. t.tms_stime
  in
  after 1000. ignore;
  expect "the one before" (fires 0.01);
  Timer.after 0.01 ignore ();
  Thread.delay 0.02;
  let before = times () in
  Thread.delay 0.3;
  expect "no busy waiting" (times () -. before < 0.1)

exception Wrong

(* An action must not raise. If one does, the other timeouts must not be affected. *)
let raises_it () =
  let called = Atomic.make false in
  Unix.close Unix.stderr;
  after 0.001 (fun () ->
      Atomic.set called true;
      raise Wrong);
  (* This thread must not call the action, and it would do so if it set another timeout. *)
  while not (Atomic.get called) do
    Thread.delay 0.001
  done;
  expect "the next one" (fires 0.01)

let programs =
  [
    ("exits with timeouts pending", "", exits);
    ("exits without any", "", exits_unused);
    ("a domain ends with timeouts pending", "", domain_ends);
    ("fork", "", forks);
    ("signals", "", signals);
    ("more files than select can count", "ulimit -n 4096 && ", many_files);
    ("no file left", "ulimit -n 30 && ", no_files);
    ("nothing to do", "", idle);
    ("an action that raises", "", raises_it);
  ]

let succeeds name before () =
  let self = Filename.quote Sys.executable_name in
  let command =
    Printf.sprintf "%sexec %s %s" before self (Filename.quote name)
  in
  let pid =
    Unix.create_process "/bin/sh" [| "sh"; "-c"; command |] Unix.stdin
      Unix.stdout Unix.stderr
  in
  let status = ref None in
  eventually "the program ends" (fun () ->
      match Unix.waitpid [ WNOHANG ] pid with
      | 0, _ -> false
      | _, s ->
          status := Some s;
          true);
  yes "status 0" (!status = Some (WEXITED 0))

(* The timer isn't idle during an action, because the action may wake a task. *)
let not_idle_in_an_action () =
  let seen = Atomic.make None in
  ignore
    (Timer.after 0.001 (fun () -> Atomic.set seen (Some (Timer.is_idle ())))
      : unit -> unit);
  eventually "it was called" (fun () -> Atomic.get seen <> None);
  yes "not idle" (Atomic.get seen = Some false);
  eventually "idle" Timer.is_idle

exception Tick

(* If a call that set a timeout was interrupted, the next call has to wake the sleeper. *)
let interrupted () =
  let interrupts = ref 0 and others = Atomic.make 0 and set = ref 0 in
  let ends = now () +. 1. in
  Interrupting.run ~by:Tick ~count:interrupts (fun () ->
      while now () < ends do
        (Timer.after 0.000_1 ignore) ();
        (* The sleeper falls asleep without a deadline. *)
        Thread.delay 0.000_2
      done);
  yes "interrupted" (!interrupts > 0);
  pass 0.001;
  (* Any thread may call a due action, and an interruption there must not lose it. *)
  let by_others () =
    while now () < ends +. 1. do
      after 0.000_02 (count others);
      incr set;
      Thread.yield ()
    done
  in
  let join = thread by_others in
  Interrupting.run ~by:Tick ~count:interrupts (fun () ->
      while now () < ends +. 1. do
        (Timer.after 0.000_01 ignore) ();
        Thread.yield ()
      done);
  join ();
  eventually "each is called" (fun () -> Atomic.get others >= !set)

let () =
  match Sys.argv with
  | [| _; name |] when List.exists (fun (n, _, _) -> n = name) programs ->
      end_in_time ();
      List.iter (fun (n, _, program) -> if n = name then program ()) programs
  | _ ->
      run "Timer"
        [
          ( "when",
            [
              test "in order" order;
              test "never early" never_early;
              test "sooner than the sleep" sooner_than_the_sleep;
              test "never" never;
              test "not idle in an action" not_idle_in_an_action;
            ] );
          ( "cancelling",
            [
              test "before" cancelled_before;
              test "in a loop" in_a_loop;
              test "100,000 pending" many;
              test "fired timeouts are forgotten" forgets_the_fired;
            ] );
          ( "races",
            [
              test "cancel against fire" race;
              test "run_due by all" run_by_all;
              test "a busy domain" busy;
            ]
            @ Interrupting.only (test "a signal handler raises" interrupted) );
          ( "programs",
            List.map
              (fun (name, before, _) -> test name (succeeds name before))
              programs );
        ]
