open Concord
open Concord.Tools
open Host_signature
open Host_tasks
open Trial

exception Boom

(* --- Protection ------------------------------------------------------------------- *)

let deferred (module H : HOST) () =
  let h = (module H : HOST) in
  in_task h (fun _ ->
      int "the value in protect" 3
        (Suspend.protect (fun () -> Suspend.suspend (fun _ -> Some 3)));
      match Suspend.protect (fun () -> raise Boom) with
      | () -> fail "protect does not raise what its function does"
      | exception Boom -> ());
  needs_cancellation h;
  if not H.protects then raise (Not_offered "it cannot defer a cancellation");
  in_task h @@ fun t ->
  let gate = Promise.create () and never = Promise.create () in
  let protected = Atomic.make 0 in
  let body () =
    Atomic.set protected (Suspend.protect (fun () -> Promise.await gate));
    Promise.await never
  in
  let task = fork t body in
  until t (fun () -> Promise.waiters gate = 1);
  task.cancel ();
  for _ = 1 to 10 do
    H.yield ()
  done;
  int "tasks that wait in protect" 1 (Promise.waiters gate);
  Promise.fill gate 1;
  (match Promise.await task.ended with
  | () -> fail "the task is never cancelled"
  | exception e when H.is_cancellation e -> ());
  int "the value in protect" 1 (Atomic.get protected)

(* The end of the inner protect leaves the outer one as it is. The task is cancelled in
   the inner one, or after it. *)
let nested (module H : HOST) ~in_inner () =
  let h = (module H : HOST) in
  needs_cancellation h;
  if not H.protects then raise (Not_offered "it cannot defer a cancellation");
  in_task h @@ fun t ->
  let inner = Promise.create () and outer = Promise.create () in
  let never = Promise.create () and ended = Atomic.make false in
  let body () =
    Suspend.protect (fun () ->
        Suspend.protect (fun () -> Promise.await inner);
        Promise.await outer;
        Atomic.set ended true);
    Promise.await never
  in
  let task = fork t body in
  let waits_in gate () =
    Promise.waiters gate = 1 || Promise.is_resolved task.ended
  in
  let is_there gate =
    for _ = 1 to 10 do
      H.yield ()
    done;
    yes "the inner protect's end has ended the outer one"
      (Promise.waiters gate = 1)
  in
  until t (waits_in inner);
  if in_inner then task.cancel ();
  Promise.fill inner ();
  until t (waits_in outer);
  if not in_inner then task.cancel ();
  is_there outer;
  Promise.fill outer ();
  (match Promise.await task.ended with
  | () -> fail "the task is never cancelled"
  | exception e when H.is_cancellation e -> ());
  yes "the outer protect has not ended" (Atomic.get ended)

let protect h =
  {
    name = "protect";
    about = "a cancellation is deferred in protect, and comes after it";
    cases =
      [
        case "a task is cancelled in protect" (deferred h);
        case "a task is cancelled in the inner of two" (nested h ~in_inner:true);
        case "a task is cancelled after the inner of two"
          (nested h ~in_inner:false);
      ];
  }

(* --- Turns -------------------------------------------------------------------------- *)

(* Each needs a step of the other. *)
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

(* Two tasks are always ready; a third one is resumed meanwhile. *)
let among_busy_tasks (module H : HOST) () =
  let h = (module H : HOST) in
  let post = post () and ended = Atomic.make false in
  let other () =
    let resumer = collect post in
    Unix.sleepf 0.002;
    yes "it is refused" (resumer (Ok ()))
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
    about = "who yields lets each ready task have its turn";
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
  | () -> fail "run returns"
  | exception Boom -> ());
  int "the value of the next run" 1 (H.run (fun _ -> 1))

let contains text part =
  let n = String.length part in
  let rec at i =
    i + n <= String.length text && (String.sub text i n = part || at (i + 1))
  in
  at 0

(* Does [f ()] have its exception written to the standard error, perhaps by another
   thread, and somewhat later? *)
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
  let deadline = Unix.gettimeofday () +. 1.5 in
  poll (fun () -> is_there () || Unix.gettimeofday () > deadline);
  is_there ()

(* Nobody awaits it. *)
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
  | told -> yes "nobody hears of it" told
  | exception Boom -> ()

(* A host may leave the other tasks when the first one has ended: then they raise nothing. *)
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
  | false when Atomic.get raises -> fail "nobody hears of it"
  | false -> raise (Not_offered "the end of the first task ends all others")
  | exception Boom -> ()

let failures h =
  {
    name = "failures";
    about = "what a task raises is raised by run, or told";
    cases =
      [
        case "the first task raises" (first_task_fails h);
        case "another task raises" (other_task_fails h);
        case "another task raises after the first one has ended"
          (fails_after_the_first h);
      ];
  }

(* --- The end --------------------------------------------------------------------------- *)

(* Resumers outlive their loop. *)
let after_the_end h () =
  let post = post () in
  in_task h (fun t ->
      let task = fork t (fun () -> wait_in post) in
      until t (fun () -> not (is_empty post));
      yes "it is refused" ((peek post) (Ok ()));
      Promise.await task.ended);
  let resumer = collect post in
  let call () = yes "it accepts" (not (resumer (Ok ()))) in
  call ();
  beside call call;
  in_task h (fun _ -> call ())

(* A domain waits for what a task does last. *)
let others_wait h () =
  let promise = Promise.create () in
  beside
    (fun () -> int "the value" 1 (Promise.await promise))
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
    about = "after a loop has ended, its resumers do no harm, and others go on";
    cases =
      [
        case "a resumer is called again" (after_the_end h);
        case "a domain waits for the last task" (others_wait h);
        case "a task waits when the first one ends" (one_waits h);
      ];
  }

let clauses h = [ protect h; fair h; failures h; ends h ]
