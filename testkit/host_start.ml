open Concord
open Concord.Tools
open Host_tasks
open Trial

(* Seconds. What these cases do takes less than a millisecond, unless the machine is very
   busy. *)
let patience = 4.

let within seconds condition =
  let deadline = Unix.gettimeofday () +. seconds in
  poll (fun () -> condition () || Unix.gettimeofday () > deadline);
  condition ()

(* [f ()], with a thread beside it that calls [stuck is_over] if [f] does not return in time;
   [is_over ()] says whether it has returned since. *)
let watched f stuck =
  let over = Atomic.make false in
  let is_over () = Atomic.get over in
  let watch () = if not (within patience is_over) then stuck is_over in
  let thread = Thread.create watch () in
  f ();
  Atomic.set over true;
  Thread.join thread

(* --- Is the handler reached? -------------------------------------------------------- *)

let unreached =
  "the effect never reached your handler, so the wait blocked the thread: run \
   the loop in Host_kit.using if the handler asks Host_kit.is_innermost, and \
   check that each task runs in the handler"

let starved =
  "a task waits, and a task beside it that is ready never runs: the scheduler \
   starves it"

(* In a task, when it is known that something is wrong: this wait blocks nothing. *)
let blame () =
  match Effect.perform (Suspend.Suspend (fun _ -> Some ())) with
  | () -> abort (Failed starved)
  | exception Effect.Unhandled _ -> abort (Failed unreached)

(* The first task waits, and the second one resumes it. If that does not happen, a thread
   resumes the first one, which then finds out why. *)
let a_task_waits h () =
  let post = post () and asked = Atomic.make false in
  let stage = Atomic.make "run never calls its function" in
  let blame_if_asked () = if Atomic.get asked then blame () in
  let body () =
    in_task h @@ fun t ->
    Atomic.set stage "spawn does not return";
    let resume () =
      until t (fun () -> (not (is_empty post)) || Atomic.get asked);
      blame_if_asked ();
      Atomic.set stage "a task was resumed, and never continues";
      Option.iter (fun resumer -> ignore (resumer (Ok ()) : bool)) (take post)
    in
    let second = fork t resume in
    Atomic.set stage "a task waits, and no other one runs";
    wait_in post;
    blame_if_asked ();
    until t (fun () -> Promise.is_resolved second.ended || Atomic.get asked);
    blame_if_asked ();
    Atomic.set stage "run does not return, although all tasks have ended"
  and stuck is_over =
    Atomic.set asked true;
    Option.iter (fun resumer -> ignore (resumer (Ok ()) : bool)) (take post);
    if not (within 1. is_over) then abort (Failed (Atomic.get stage))
  in
  watched body stuck

let reach h =
  {
    name = "reach";
    about = "Suspend reaches the handler, and another task runs meanwhile";
    cases = [ case "a task waits" (a_task_waits h) ];
  }

(* --- Does each task run? ------------------------------------------------------------ *)

let tasks = 3

(* [body t ran yielding]: each task sets its place in [ran]; the first one yields by
   [yielding] until all are set. *)
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
            "of %d tasks that are %s, number %s never runs in %g s, in which \
             the first task yields %d times: the scheduler starves it"
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
  Array.iter (fun post -> yes "it is refused" ((collect post) (Ok ()))) posts

let turns h =
  {
    name = "turns";
    about = "each task that is ready runs, sooner or later";
    cases =
      [
        case "three tasks are spawned" (all_run h "spawned" spawned);
        case "three tasks are resumed" (all_run h "resumed" resumed);
      ];
  }

let clauses h = [ reach h; turns h ]
