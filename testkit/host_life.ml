open Concord
open Concord.Tools
open Host_signature
open Host_tasks
open Trial

exception Boom

(* --- Protection ------------------------------------------------------------------- *)

(* The task has left protect, in which it was cancelled, and awaits [after]. If the host has
   lost the cancellation, [after] lets the task go on. *)
let is_cancelled_after_protect (module H : HOST) t task after =
  if not (until_for t patience (fun () -> Promise.is_resolved task.ended)) then
    Promise.fill after ();
  match Promise.await task.ended with
  | () ->
      fail
        "the task returned after protect, although it had been cancelled in it"
  | exception e when H.is_cancellation e -> ()

let deferred (module H : HOST) () =
  let h = (module H : HOST) in
  in_task h (fun _ ->
      int "the value of a task that suspends in protect" 3
        (Suspend.protect (fun () -> Suspend.suspend (fun _ -> Some 3)));
      match Suspend.protect (fun () -> raise Boom) with
      | () -> fail "protect returned, although its function raised"
      | exception Boom -> ());
  needs_cancellation h;
  in_task h @@ fun t ->
  let gate = Promise.create () and after = Promise.create () in
  let protected = Atomic.make 0 in
  let body () =
    Atomic.set protected (Suspend.protect (fun () -> Promise.await gate));
    Promise.await after
  in
  let task = fork t body in
  until t (fun () -> Promise.waiters gate = 1);
  task.cancel ();
  for _ = 1 to 10 do
    H.yield ()
  done;
  int "tasks that still wait in protect after the cancellation" 1
    (Promise.waiters gate);
  Promise.fill gate 1;
  is_cancelled_after_protect h t task after;
  int "the value of the promise that the task awaited in protect" 1
    (Atomic.get protected)

(* The outer protect must still defer a cancellation after the inner one has ended. The task
   is cancelled in the inner protect, or after it. *)
let nested (module H : HOST) ~in_inner () =
  let h = (module H : HOST) in
  needs_cancellation h;
  in_task h @@ fun t ->
  let inner = Promise.create () and outer = Promise.create () in
  let after = Promise.create () and ended = Atomic.make false in
  let body () =
    Suspend.protect (fun () ->
        Suspend.protect (fun () -> Promise.await inner);
        Promise.await outer;
        Atomic.set ended true);
    Promise.await after
  in
  let task = fork t body in
  let waits_in gate () =
    Promise.waiters gate = 1 || Promise.is_resolved task.ended
  in
  let is_there gate =
    for _ = 1 to 10 do
      H.yield ()
    done;
    yes
      "the task was cancelled in the outer protect, after the inner one had \
       ended"
      (Promise.waiters gate = 1)
  in
  until t (waits_in inner);
  if in_inner then task.cancel ();
  Promise.fill inner ();
  until t (waits_in outer);
  if not in_inner then task.cancel ();
  is_there outer;
  Promise.fill outer ();
  is_cancelled_after_protect h t task after;
  yes "the task was cancelled before its outer protect had ended"
    (Atomic.get ended)

(* Each task has its own deferral. *)
let not_in_protect (module H : HOST) () =
  let h = (module H : HOST) in
  needs_cancellation h;
  in_task h @@ fun t ->
  let gate = Promise.create () and other = Promise.create () in
  let sheltered =
    fork t (fun () -> Suspend.protect (fun () -> Promise.await gate))
  and task = fork t (fun () -> Promise.await other) in
  until t (fun () -> Promise.waiters gate = 1 && Promise.waiters other = 1);
  task.cancel ();
  if not (until_for t patience (fun () -> Promise.is_resolved task.ended)) then
    Promise.fill other ();
  (match Promise.await task.ended with
  | () ->
      fail
        "the cancellation of a task was deferred, although not this task but \
         another one was in protect"
  | exception e when H.is_cancellation e -> ());
  Promise.fill gate ();
  Promise.await sheltered.ended

let still_in_protect (module H : HOST) () =
  let h = (module H : HOST) in
  needs_cancellation h;
  in_task h @@ fun t ->
  let gates = Array.init 2 (fun _ -> Promise.create ()) in
  let after = Promise.create () in
  let body gate () =
    Suspend.protect (fun () -> Promise.await gate);
    Promise.await after
  in
  let first = fork t (body gates.(0)) in
  until t (fun () -> Promise.waiters gates.(0) = 1);
  let second = fork t (body gates.(1)) in
  until t (fun () -> Promise.waiters gates.(1) = 1);
  Promise.fill gates.(0) ();
  until t (fun () -> Promise.waiters after = 1);
  second.cancel ();
  for _ = 1 to 10 do
    H.yield ()
  done;
  yes "a task was cancelled in protect, after another task had left it"
    (Promise.waiters gates.(1) = 1);
  Promise.fill gates.(1) ();
  is_cancelled_after_protect h t second after;
  ignore (Promise.try_fill after () : bool);
  Promise.await first.ended

(* Code that cleans up after a cancellation waits in protect. *)
let already_cancelled (module H : HOST) () =
  let h = (module H : HOST) in
  needs_cancellation h;
  in_task h @@ fun t ->
  let never = Promise.create () and gate = Promise.create () in
  let entered = Promise.create () and value = Atomic.make 0 in
  let clean_up () =
    Fun.protect
      (fun () ->
        Suspend.protect (fun () ->
            Promise.fill entered ();
            Atomic.set value (Promise.await gate)))
      ~finally:(fun () -> ignore (Promise.try_fill entered () : bool))
  in
  let body () = Fun.protect (fun () -> Promise.await never) ~finally:clean_up in
  let task = fork t body in
  until t (fun () -> Promise.waiters never = 1);
  task.cancel ();
  (* A host that cancels lazily needs a turn in which no task is ready. *)
  Promise.await entered;
  until t (fun () -> Promise.waiters gate = 1 || Promise.is_resolved task.ended);
  for _ = 1 to 10 do
    H.yield ()
  done;
  yes "the task did not wait in protect, because it had been cancelled before"
    (Promise.waiters gate = 1);
  Promise.fill gate 1;
  (match Promise.await task.ended with
  | () -> fail "the task returned, although it had been cancelled"
  | exception e when H.is_cancellation e -> ());
  int "the value of the promise that the task awaited in protect" 1
    (Atomic.get value)

let protect h =
  {
    name = "protect";
    about = "protect defers a cancellation until its function has ended";
    read = "\"Cancellation\"";
    optional = true;
    cases =
      [
        case "a task is cancelled in protect" (deferred h);
        case "a task is cancelled in the inner of two protects"
          (nested h ~in_inner:true);
        case "a task is cancelled after the inner of two protects"
          (nested h ~in_inner:false);
        case "a cancelled task calls protect" (already_cancelled h);
        case "a task is cancelled while another one is in protect"
          (not_in_protect h);
        case "a task is cancelled in protect, which another one has left"
          (still_in_protect h);
      ];
  }

(* --- A cancellation before the task's turn ------------------------------------------ *)

(* The task is cancelled while it is ready. Then it never begins, or it raises in its next
   wait. [after] ends that wait if the host has forgotten the cancellation. *)
let cancelled_when_ready (module H : HOST) make_ready () =
  let h = (module H : HOST) in
  needs_cancellation h;
  in_task h @@ fun t ->
  let after = Promise.create () and begun = Atomic.make false in
  let begin_and_await first () =
    Atomic.set begun true;
    first ();
    Promise.await after
  in
  let task = make_ready t begin_and_await in
  task.cancel ();
  let has_ended () = Promise.is_resolved task.ended in
  if until_for t 0.05 (fun () -> Atomic.get begun || has_ended ()) then begin
    if not (until_for t patience has_ended) then Promise.fill after ();
    match Promise.await task.ended with
    | () ->
        fail
          "the task was cancelled while it was ready, but its next wait did \
           not raise"
    | exception e when H.is_cancellation e -> ()
  end

let spawned t body = fork t (body ignore)

let resumed t body =
  let post = post () in
  let task = fork t (body (fun () -> wait_in post)) in
  until t (fun () -> not (is_empty post));
  yes "the resumer returned false, although its task was still waiting"
    ((collect post) (Ok ()));
  task

let queued h =
  {
    name = "queued";
    about = "a task that is cancelled while it is ready raises in its next wait";
    read = "\"Cancellation\"";
    optional = true;
    cases =
      [
        case "before it begins" (cancelled_when_ready h spawned);
        case "after it was resumed" (cancelled_when_ready h resumed);
      ];
  }

(* --- Turns -------------------------------------------------------------------------- *)

(* Each player can take a step only after the other one has. *)
let by_turns h yield () =
  in_task h @@ fun t ->
  let turn = Atomic.make 0 in
  let player me () =
    for _ = 1 to 5 do
      while Atomic.get turn mod 2 <> me do
        yield ()
      done;
      Atomic.incr turn
    done
  in
  let a = fork t (player 0) and b = fork t (player 1) in
  Promise.await a.ended;
  Promise.await b.ended

(* A domain resumes a third task while two tasks yield all the time. *)
let among_busy_tasks (module H : HOST) () =
  let h = (module H : HOST) in
  let post = post () and ended = Atomic.make false in
  let other () =
    let resumer = collect post in
    Unix.sleepf 0.002;
    yes "the resumer returned false, although its task was still waiting"
      (resumer (Ok ()))
  in
  beside other @@ fun () ->
  in_task h @@ fun t ->
  let busy () =
    while not (Atomic.get ended) do
      H.yield ()
    done
  and waiting () =
    wait_in post;
    Atomic.set ended true
  in
  let tasks = List.map (fork t) [ waiting; busy; busy ] in
  List.iter (fun task -> Promise.await task.ended) tasks

let fair (module H : HOST) =
  let h = (module H : HOST) in
  {
    name = "fair";
    about = "a task that yields lets every other ready task run";
    read = "\"Tasks that a task starts\"";
    optional = true;
    cases =
      [
        case "two tasks yield" (by_turns h H.yield);
        case "two tasks call Concord.Tasks.yield"
          (by_turns h Concord.Tasks.yield);
        case "a task is resumed while two yield" (among_busy_tasks h);
      ];
  }

(* --- Failures ------------------------------------------------------------------------ *)

let first_task_fails (module H : HOST) () =
  (match H.run (fun _ -> raise Boom) with
  | () -> fail "run returned, although its first task raised"
  | exception Boom -> ());
  int "the value of the next run, after the first task of one has raised" 1
    (H.run (fun _ -> 1))

let contains text part =
  let n = String.length part in
  let rec at i =
    i + n <= String.length text && (String.sub text i n = part || at (i + 1))
  in
  at 0

(* Whether [e] appears on the standard error while [f ()] runs, or up to 1.5 s later. Another
   thread may print it, so this waits. *)
let is_reported e f =
  let file = Filename.temp_file "concord" ".txt" in
  let target = Unix.openfile file [ O_WRONLY; O_TRUNC; O_CLOEXEC ] 0o600 in
  let kept = Unix.dup ~cloexec:true Unix.stderr in
  let restore () =
    flush stderr;
    Unix.dup2 kept Unix.stderr;
    List.iter Unix.close [ target; kept ];
    Sys.remove file
  in
  let is_there () =
    flush stderr;
    let text = In_channel.with_open_bin file In_channel.input_all in
    contains text (Printexc.to_string e)
  in
  Fun.protect ~finally:restore @@ fun () ->
  Unix.dup2 target Unix.stderr;
  f ();
  poll_for 1.5 is_there

(* No task awaits the one that fails. *)
let other_task_fails (module H : HOST) () =
  let begun = Atomic.make false in
  let body () =
    Atomic.set begun true;
    raise Boom
  and run body =
    H.run @@ fun t ->
    ignore (H.spawn t body : H.task);
    while not (Atomic.get begun) do
      H.yield ();
      Unix.sleepf 0.0001
    done;
    H.yield ()
  in
  match is_reported Boom (fun () -> run body) with
  | told ->
      yes "a task raised, but run returned and nothing was printed on stderr"
        told
  | exception Boom -> ()

(* A host may abandon the other tasks when the first one has ended. Then they raise nothing,
   and the case is not offered. *)
let fails_after_the_first (module H : HOST) () =
  let first_ended = Atomic.make false and raises = Atomic.make false in
  let body () =
    while not (Atomic.get first_ended) do
      H.yield ();
      Unix.sleepf 0.0001
    done;
    for _ = 1 to 10 do
      H.yield ()
    done;
    Atomic.set raises true;
    raise Boom
  in
  let run () =
    H.run @@ fun t ->
    ignore (H.spawn t body : H.task);
    Atomic.set first_ended true
  in
  match is_reported Boom run with
  | true -> ()
  | false when Atomic.get raises ->
      fail "a task raised, but run returned and nothing was printed on stderr"
  | false -> raise (Not_offered "the other tasks end with the first one")
  | exception Boom -> ()

let failures h =
  {
    name = "failures";
    about = "an exception of a task is raised by run, or printed on stderr";
    read = "\"A complete scheduler\"";
    optional = true;
    cases =
      [
        case "the first task raises" (first_task_fails h);
        case "another task raises" (other_task_fails h);
        case "another task raises after the first one has ended"
          (fails_after_the_first h);
      ];
  }

(* --- The end --------------------------------------------------------------------------- *)

(* A resumer may be called long after its loop has ended. *)
let after_the_end h () =
  let post = post () in
  in_task h (fun t ->
      let task = fork t (fun () -> wait_in post) in
      until t (fun () -> not (is_empty post));
      yes "the resumer returned false, although its task was still waiting"
        ((peek post) (Ok ()));
      Promise.await task.ended);
  let resumer = collect post in
  let call () =
    yes "the resumer returned true a second time, after its loop had ended"
      (not (resumer (Ok ())))
  in
  call ();
  beside call call;
  in_task h (fun _ -> call ())

(* The last action of the only task is to wake a domain. *)
let others_wait h () =
  let promise = Promise.create () in
  beside
    (fun () -> int "the value that the domain awaits" 1 (Promise.await promise))
    (fun () ->
      in_task h (fun t ->
          until t (fun () -> Promise.waiters promise = 1);
          Promise.fill promise 1))

(* A task still waits when the first one ends. *)
let one_waits h () =
  let post = post () and leaving = Atomic.make false in
  let other () =
    poll (fun () -> Atomic.get leaving);
    let resumer = collect post in
    Unix.sleepf 0.005;
    ignore (resumer (Ok ()) : bool)
  in
  beside other (fun () ->
      in_task h (fun t ->
          ignore (fork t (fun () -> wait_in post) : unit forked);
          until t (fun () -> not (is_empty post));
          Atomic.set leaving true))

let ends h =
  {
    name = "end";
    about =
      "after a loop has ended, its resumers do no harm, and nothing else hangs";
    read = "\"The handler\", the rule \"One wait\"";
    optional = true;
    cases =
      [
        case "a resumer is called again" (after_the_end h);
        case "a domain waits for the last task" (others_wait h);
        case "a task waits when the first one ends" (one_waits h);
      ];
  }

let clauses h = [ protect h; queued h; fair h; failures h; ends h ]
