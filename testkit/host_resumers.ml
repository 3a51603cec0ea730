open Concord
open Concord.Tools
open Host_tasks
open Trial

exception Boom

(* --- H1: block -------------------------------------------------------------- *)

let some_v h () =
  in_task h @@ fun _ ->
  let calls = ref 0 in
  let block _ =
    incr calls;
    Some 7
  in
  int "the value with which the task continues" 7 (Suspend.suspend block);
  int "calls of block" 1 !calls

let raises h () =
  in_task h @@ fun _ ->
  let calls = ref 0 in
  let block _ =
    incr calls;
    raise Boom
  in
  (match Suspend.suspend block with
  | () -> fail "the task continues with a value, although block raised"
  | exception Boom -> ());
  int "calls of block" 1 !calls

(* [block] runs for a while after [resume] has called the resumer. *)
let not_before_block_returns h resume () =
  in_task h @@ fun _ ->
  let in_block = Atomic.make false in
  let block resumer =
    Atomic.set in_block true;
    resume (fun () -> ignore (resumer (Ok 1) : bool));
    spin 50_000;
    Atomic.set in_block false;
    None
  in
  let v = Suspend.suspend block in
  yes "the task continues before block has returned" (not (Atomic.get in_block));
  int "the value with which the task continues" 1 v

let h1 h =
  {
    name = "H1";
    about =
      "block is called once, and the task continues only after block has ended";
    read = "\"The handler\"";
    optional = false;
    cases =
      [
        case "block returns Some v" (some_v h);
        case "block raises" (raises h);
        case "resumed in block" (not_before_block_returns h (fun f -> f ()));
        case "resumed by a thread while block runs"
          (not_before_block_returns h in_thread);
      ];
  }

(* --- H2: resumers ------------------------------------------------------------ *)

(* The thread that is calling a resumer. No task may run on its stack meanwhile. *)
let nobody = -1
let calling = Atomic.make nobody

let call resumer outcome =
  Atomic.set calling (self ());
  let accepted = resumer outcome in
  Atomic.set calling nobody;
  accepted

let continues post =
  let v = wait_in post in
  yes
    "the resumer runs the task inside the call, but it should only make it \
     ready"
    (Atomic.get calling <> self ());
  v

(* The loop has nothing else to do, so it most likely sleeps when the resumer is called. *)
let from_elsewhere h place () =
  let post = post () in
  let other () =
    let resumer = collect post in
    Unix.sleepf 0.005;
    place (fun () ->
        yes "the resumer returned false, although its task was still waiting"
          (call resumer (Ok 3)))
  in
  beside other (fun () ->
      in_task h (fun _ ->
          int "the value with which the task continues" 3 (continues post)))

let by_a_sibling h () =
  in_task h @@ fun t ->
  let post = post () in
  let task = fork t (fun () -> continues post) in
  until t (fun () -> not (is_empty post));
  yes "the resumer returned false, although its task was still waiting"
    (call (collect post) (Ok 4));
  int "the value with which the task continues" 4 (Promise.await task.ended)

(* The first task computes, without yielding, until the resumer has been called. *)
let while_busy h () =
  let post = post () in
  let collected = Atomic.make false and busy = Atomic.make false in
  let called = Atomic.make false in
  let other () =
    let resumer = collect post in
    Atomic.set collected true;
    poll (fun () -> Atomic.get busy);
    yes "the resumer returned false, although its task was still waiting"
      (call resumer (Ok 5));
    Atomic.set called true
  in
  beside other @@ fun () ->
  in_task h @@ fun t ->
  let task = fork t (fun () -> continues post) in
  until t (fun () -> Atomic.get collected);
  Atomic.set busy true;
  while not (Atomic.get called) do
    spin 100
  done;
  int "the value with which the task continues" 5 (Promise.await task.ended)

(* A scheduler may block signals in its own threads. *)
let with_unblocked signal f =
  let before = Thread.sigmask SIG_UNBLOCK [ signal ] in
  let restore () = ignore (Thread.sigmask SIG_SETMASK before : int list) in
  Fun.protect f ~finally:restore

let in_a_signal_handler h () =
  needs_signals ();
  in_task h @@ fun t ->
  let post = post () in
  let task = fork t (fun () -> continues post) in
  until t (fun () -> not (is_empty post));
  let resumer = collect post and answer = Atomic.make None in
  let handle _ = Atomic.set answer (Some (call resumer (Ok 6))) in
  let before = Sys.signal Sys.sigusr1 (Signal_handle handle) in
  with_unblocked Sys.sigusr1 (fun () ->
      Unix.kill (Unix.getpid ()) Sys.sigusr1;
      poll (fun () -> Option.is_some (Atomic.get answer)));
  Sys.set_signal Sys.sigusr1 before;
  yes "the resumer returned false, although its task was still waiting"
    (Atomic.get answer = Some true);
  int "the value with which the task continues" 6 (Promise.await task.ended)

let h2 h =
  {
    name = "H2";
    about =
      "a resumer may be called from anywhere, never blocks, and runs no task";
    read = "\"The handler\", the rules \"Any thread\" and \"No waiting\"";
    optional = false;
    cases =
      [
        (* This case comes first, because it reports more than a hang. *)
        case "by another task" (by_a_sibling h);
        case "from a domain" (from_elsewhere h (fun f -> f ()));
        case "from a thread" (from_elsewhere h in_thread);
        case "from a domain, while a task computes" (while_busy h);
        case "in a signal handler" (in_a_signal_handler h);
      ];
  }

(* --- H4: no wake-up is lost ---------------------------------------------------- *)

(* The loop has only one task, so it goes to sleep in each round. *)
let wake_ups h random place () =
  let rounds = 250 and random = random 5 in
  let post = post () in
  let other () =
    for i = 1 to rounds do
      let resumer = collect post in
      (* The resumer is called sometimes at once, and sometimes when the loop sleeps. *)
      spin (Random.State.int random (if i mod 2 = 0 then 500 else 20_000));
      yes "the resumer returned false, although its task was still waiting"
        (resumer (Ok i));
      alive ()
    done
  in
  beside
    (fun () -> place other)
    (fun () ->
      in_task h @@ fun _ ->
      for i = 1 to rounds do
        int "the value with which the task continues" i (wait_in post)
      done)

(* The race of [wake_ups] in its exact order, for a loop that sleeps in [Suspend.suspend]. The
   task becomes ready after the loop has decided to sleep, but before its [block] is called. A
   thread resumes the task if the loop blocks its thread instead, or runs in another thread
   than the caller of [run]. *)
let misses =
  "the loop sleeps although a task is ready. The task became ready after the \
   loop had decided to sleep, so check the queue again in block"

(* Whether a loop of the host can run inside this test's loop. It can't if its handler takes
   every effect, even those of the loop around it. That is not a fault against H4. *)
let runs_inside run =
  let at_once resumer =
    ignore (resumer (Ok ()) : bool);
    None
  in
  match run (fun _ -> Suspend.suspend at_once) with
  | () -> true
  | exception _ -> false

let before_it_sleeps h () =
  let host = Host_kit.create () in
  let post = post () and slept = ref false and loop = Atomic.make nobody in
  let resume () =
    match take post with None -> false | Some resumer -> resumer (Ok 1)
  in
  let sleep block =
    let outcome = Atomic.make None in
    let wake o = Atomic.compare_and_set outcome None (Some o) in
    let is_ready = Atomic.get loop = self () && resume () in
    match block wake with
    | Some v -> Ok v
    | exception e -> Error e
    | None ->
        if is_ready && Atomic.get outcome = None then begin
          slept := true;
          Error (Failed misses)
        end
        else begin
          poll (fun () -> Atomic.get outcome <> None);
          Option.get (Atomic.get outcome)
        end
  in
  let effc (type a) (e : a Effect.t) :
      ((a, unit) Effect.Deep.continuation -> unit) option =
    match e with
    | Suspend.Suspend block when Host_kit.is_innermost host ->
        Some
          (fun k ->
            match sleep block with
            | Ok v -> Effect.Deep.continue k v
            | Error e -> Effect.Deep.discontinue k e)
    | _ -> None
  in
  let ended = Atomic.make false in
  (* On a busy machine the rescuer may act before the loop sleeps. The test then misses a fault,
     but it never reports a fault that is not there. *)
  let rescuer () =
    poll (fun () -> Atomic.get ended || not (is_empty post));
    if not (poll_for 0.3 (fun () -> Atomic.get ended)) then
      ignore (resume () : bool)
  in
  let thread = Thread.create rescuer () in
  let run task =
    Effect.Deep.match_with
      (fun () -> Host_kit.using host (fun () -> in_task h task))
      ()
      { Effect.Deep.retc = Fun.id; exnc = raise; effc }
  in
  let check () =
    if runs_inside run then
      run (fun _ ->
          Atomic.set loop (self ());
          int "the value" 1 (wait_in post))
    else put post (fun _ -> false)
  in
  Fun.protect check ~finally:(fun () -> Atomic.set ended true);
  Thread.join thread;
  yes misses (not !slept)

let h4 h random =
  {
    name = "H4";
    about = "a loop that goes to sleep misses no task that becomes ready";
    read = "\"The handler\", the rule \"No lost wake-up\", and \"Sleeping\"";
    optional = false;
    cases =
      [
        case "a task is resumed when the loop begins to sleep"
          (before_it_sleeps h);
        case "a domain resumes" (wake_ups h random (fun f -> f ()));
        case "a system thread of a domain resumes" (wake_ups h random in_thread);
      ];
  }

let clauses ~seed h =
  let random n = Random.State.make [| seed; n |] in
  [ h1 h; h2 h; Host_decisions.h3 h random; h4 h random ]
