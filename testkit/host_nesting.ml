open Concord
open Concord.Tools
open Host_signature
open Host_tasks
open Trial

type helper = Sibling | Rescuer

(* A task waits for [gate], and a sibling fills it. The sibling can run only if the first task
   does not block the loop of both. If it does, a thread fills the gate instead. *)
let gate () : helper Promise.t = Promise.create ()
let waits gate = Promise.waiters gate = 1

let rescue gate =
  let rescuer () =
    poll (fun () -> waits gate || Promise.is_resolved gate);
    if not (poll_for patience (fun () -> Promise.is_resolved gate)) then
      ignore (Promise.try_fill gate Rescuer : bool)
  in
  Thread.create rescuer ()

let await gate = ignore (Promise.await gate : helper)

let helped_by_sibling gate thread otherwise =
  Thread.join thread;
  match Promise.await gate with Sibling -> () | Rescuer -> fail "%s" otherwise

let inside_fifo h () =
  let gate = gate () in
  let thread = rescue gate in
  let sibling () =
    let rec go () =
      if waits gate then ignore (Promise.try_fill gate Sibling : bool)
      else if not (Promise.is_resolved gate) then begin
        Concord_fifo.yield ();
        Unix.sleepf 0.0001;
        go ()
      end
    in
    go ()
  in
  Concord_fifo.run (fun () ->
      ignore (Concord_fifo.fork sibling : Concord_fifo.handle);
      in_task h (fun _ -> await gate));
  helped_by_sibling gate thread
    "run blocks the thread of the task that calls it, because its loop does \
     not sleep in Suspend.suspend"

(* The outer loop still works after the inner one has ended. This happens twice, to show that
   the inner one restores the outer one each time. *)
let inside_and_after h () =
  Concord_fifo.run @@ fun () ->
  for _ = 1 to 2 do
    in_task h (fun _ ->
        int "the value with which a task of the inner loop continues" 1
          (Suspend.suspend (fun _ -> Some 1)));
    let promise = Promise.create () in
    let task =
      Concord_fifo.fork_promise (fun () -> Promise.await promise + 1)
    in
    Promise.fill promise 1;
    int "the value of a task of the outer loop" 2 (Promise.await task)
  done

(* A task of Fifo is cancelled while it runs a loop, which sleeps. If the host cancels its
   tasks, they are unwound before [run] ends. *)
let inside_and_cancelled (module H : HOST) () =
  let h = (module H : HOST) in
  let box = Mvar.create_empty () in
  let unwound = Atomic.make false and ended = Atomic.make false in
  let take () =
    Fun.protect
      (fun () -> Mvar.take box)
      ~finally:(fun () -> Atomic.set unwound true)
  in
  let body () =
    Fun.protect
      (fun () -> in_task h (fun _ -> take ()))
      ~finally:(fun () -> Atomic.set ended true)
  in
  let rec until_fifo condition =
    if not (condition ()) then begin
      Concord_fifo.yield ();
      until_fifo condition
    end
  in
  let run () =
    Concord_fifo.run @@ fun () ->
    let task = Concord_fifo.fork body in
    until_fifo (fun () -> Mvar.waiters box = 1);
    Concord_fifo.cancel task;
    until_fifo (fun () -> Atomic.get ended)
  and stuck _ =
    abort
      (Failed
         "run does not end, although the task in which it sleeps was cancelled")
  in
  watched run stuck;
  if Option.is_some H.cancel then begin
    yes "run was cancelled and ended, but its task was not unwound"
      (Atomic.get unwound);
    int "waiters of the box after run has ended" 0 (Mvar.waiters box)
  end

let inside h =
  let both () =
    inside_and_after h ();
    inside_fifo h ()
  in
  {
    name = "inside";
    about =
      "run may be called in a task of another host, and suspends only that task";
    read = "\"Sleeping\"";
    optional = true;
    cases =
      [
        case "in a task of Fifo" both;
        case "the task of Fifo is cancelled" (inside_and_cancelled h);
      ];
  }

(* A task of [t] is suspended, resumed by another task, and continues. *)
let continues t =
  let post = post () in
  let task = fork t (fun () -> wait_in post) in
  until t (fun () -> not (is_empty post));
  yes "the resumer returned false, although its task was still waiting"
    ((collect post) (Ok 1));
  int "the value with which the task continues" 1 (Promise.await task.ended)

(* This happens twice, to show that the end of the inner loop restores the outer one. *)
let in_itself h () =
  let stage = Atomic.make "a task of the inner loop does not continue" in
  let run () =
    in_task h @@ fun outer ->
    for _ = 1 to 2 do
      in_task h (fun inner ->
          continues inner;
          Atomic.set stage "run does not return in a task of its own host");
      Atomic.set stage
        "a task of the outer loop does not continue after the inner loop has \
         ended, perhaps because the inner one is still the current one";
      continues outer;
      Atomic.set stage "a task of the inner loop does not continue"
    done
  in
  watched run (fun _ -> abort (Failed (Atomic.get stage)))

let nested h =
  {
    name = "nested";
    about = "run may be called in a task of its own host";
    read = "\"Foreign loops inside your tasks\"";
    optional = true;
    cases = [ case "twice in one task" (in_itself h) ];
  }

(* A task of [h] runs a loop of [Concord_fifo], whose task waits for [gate]. A sibling of the
   task of [h] fills it. *)
let around_fifo h () =
  let gate = gate () in
  let thread = rescue gate in
  in_task h (fun t ->
      let sibling () =
        until t (fun () -> waits gate || Promise.is_resolved gate);
        ignore (Promise.try_fill gate Sibling : bool)
      in
      let sibling = fork t sibling in
      Concord_fifo.run (fun () -> await gate);
      Promise.await sibling.ended);
  helped_by_sibling gate thread
    "a loop that runs in a task blocks the other tasks of the host"

(* A loop that does not handle [Suspend] has two tasks, and one of them waits for the other. *)
let around_foreign h () =
  let gate = gate () in
  let thread = rescue gate in
  in_task h (fun t ->
      Host_foreign.run
        [
          (fun () -> await gate);
          (fun () -> ignore (Promise.try_fill gate Sibling : bool));
        ];
      (* [h] has to be the innermost host again after that loop. *)
      continues t);
  helped_by_sibling gate thread
    "its handler takes the waits of tasks of the inner loop, which is not its \
     own (see Host_kit.is_innermost)"

let around h =
  {
    name = "around";
    about = "a loop that handles Suspend may run in a task";
    read = "\"Foreign loops inside your tasks\"";
    optional = true;
    cases = [ case "Fifo in a task" (around_fifo h) ];
  }

let foreign h =
  {
    name = "foreign";
    about = "a loop that does not handle Suspend may run in a task";
    read = "\"Foreign loops inside your tasks\"";
    optional = true;
    cases = [ case "such a loop in a task" (around_foreign h) ];
  }

let two_domains h () =
  let n = 100 in
  let there = Mvar.create_empty () and back = Mvar.create_empty () in
  let echo () =
    in_task h @@ fun _ ->
    for _ = 1 to n do
      Mvar.put back (-Mvar.take there)
    done
  in
  beside echo @@ fun () ->
  in_task h @@ fun _ ->
  for i = 1 to n do
    Mvar.put there i;
    int "the answer from the other domain" (-i) (Mvar.take back);
    alive ()
  done

let domains h =
  {
    name = "domains";
    about = "two loops on two domains exchange messages";
    read = "\"Sleeping\"";
    optional = true;
    cases = [ case "questions and answers" (two_domains h) ];
  }

let clauses h = [ inside h; nested h; around h; foreign h; domains h ]
