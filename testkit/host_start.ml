open Concord
open Concord.Tools
open Host_tasks
open Trial

(* --- Is the handler reached? -------------------------------------------------------- *)

let unreached =
  "the effect Suspend never reached your handler, so the wait blocked the \
   thread. Check that each task runs in the handler. If the handler calls \
   Host_kit.is_innermost, run the loop in Host_kit.using"

let starved =
  "one task waits, and another task is ready but never runs, so the scheduler \
   starves it"

(* Finds the cause, in a task, once it is known that something is wrong. This [Suspend] blocks
   nothing, and it is unhandled if it doesn't reach the host's handler. *)
let blame () =
  match Effect.perform (Suspend.Suspend (fun _ -> Some ())) with
  | () -> abort (Failed starved)
  | exception Effect.Unhandled _ -> abort (Failed unreached)

(* The first task waits, and the second one resumes it. If that does not happen in time, a
   thread resumes the first task, which then finds the cause. *)
let a_task_waits h () =
  let post = post () and asked = Atomic.make false in
  let stage = Atomic.make "run never called its function" in
  let blame_if_asked () = if Atomic.get asked then blame () in
  let body () =
    in_task h @@ fun t ->
    Atomic.set stage "spawn did not return";
    let resume () =
      until t (fun () -> (not (is_empty post)) || Atomic.get asked);
      blame_if_asked ();
      Atomic.set stage "a task was resumed, but it never continued";
      Option.iter (fun resumer -> ignore (resumer (Ok ()) : bool)) (take post)
    in
    let second = fork t resume in
    Atomic.set stage "one task waits, and no other task runs";
    wait_in post;
    blame_if_asked ();
    until t (fun () -> Promise.is_resolved second.ended || Atomic.get asked);
    blame_if_asked ();
    Atomic.set stage "run does not return, although all tasks have ended"
  and stuck is_over =
    Atomic.set asked true;
    Option.iter (fun resumer -> ignore (resumer (Ok ()) : bool)) (take post);
    if not (poll_for 1. is_over) then abort (Failed (Atomic.get stage))
  in
  watched body stuck

let reach h =
  {
    name = "reach";
    about =
      "Suspend reaches your handler, and other tasks run while a task waits";
    read = "\"The handler\"";
    optional = false;
    cases = [ case "a task waits" (a_task_waits h) ];
  }

(* --- Does each task run? ------------------------------------------------------------ *)

let tasks = 3

(* [body t ran] starts the tasks. Each of them sets its entry of [ran], and the first task
   yields until all are set. *)
let all_run h what body () =
  let ran = Array.init tasks (fun _ -> Atomic.make false) in
  let yields = Atomic.make 0 in
  let all () = Array.for_all Atomic.get ran in
  let run () =
    in_task h @@ fun t ->
    body t ran;
    until t (fun () ->
        Atomic.incr yields;
        all ())
  and stuck _ =
    let left = ref [] in
    Array.iteri
      (fun i ran ->
        if not (Atomic.get ran) then left := string_of_int (i + 1) :: !left)
      ran;
    match List.rev !left with
    | [] -> abort (Failed "run does not return, although all tasks have ended")
    | left ->
        let text =
          Printf.sprintf
            "of %d tasks that are %s, number %s has not run for %g s, although \
             the first task has yielded %d times, so the scheduler starves it"
            tasks what
            (String.concat " and " left)
            patience (Atomic.get yields)
        in
        abort (Failed text)
  in
  watched run stuck

let spawned t ran =
  let task i =
    ignore (fork t (fun () -> Atomic.set ran.(i) true) : unit forked)
  in
  List.iter task (List.init tasks Fun.id)

let resumed t ran =
  let posts = Array.init tasks (fun _ -> post ()) in
  let task i =
    let body () =
      wait_in posts.(i);
      Atomic.set ran.(i) true
    in
    ignore (fork t body : unit forked)
  in
  List.iter task (List.init tasks Fun.id);
  until t (fun () -> Array.for_all (fun post -> not (is_empty post)) posts);
  Array.iter
    (fun post ->
      yes "the resumer returned false, although its task was still waiting"
        ((collect post) (Ok ())))
    posts

let turns h =
  {
    name = "turns";
    about = "each ready task runs sooner or later";
    read = "\"The handler\"";
    optional = false;
    cases =
      [
        case "three tasks are spawned" (all_run h "spawned" spawned);
        case "three tasks are resumed" (all_run h "resumed" resumed);
      ];
  }

let clauses h = [ reach h; turns h ]
