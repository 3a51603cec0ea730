open Concord
open Concord.Tools
open Host_tasks
open Trial

type helper = Sibling | Rescuer

(* A task waits for [gate], and a sibling fills it. The sibling can run only if the first task
   does not block the loop of both. If it does, a thread fills the gate instead. *)
let gate () : helper Promise.t = Promise.create ()
let waits gate = Promise.waiters gate = 1

(* In seconds. The sibling takes less than a millisecond, unless the machine is very busy. *)
let patience = 4.

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
    cases = [ case "in a task of Fifo" both ];
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
      let post = post () in
      let task = fork t (fun () -> wait_in post) in
      until t (fun () -> not (is_empty post));
      yes "the resumer returned false, although its task was still waiting"
        ((collect post) (Ok 1));
      int "the value with which the task continues" 1 (Promise.await task.ended));
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

let clauses h = [ inside h; around h; foreign h; domains h ]
