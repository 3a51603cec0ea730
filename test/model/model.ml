(* Model checking with tasks that wait.

   A process of dscheck cannot be suspended. So a task that waits leaves its
   process, and goes on in the process that resumed or cancelled it, after that
   has done what it was doing: as in a host, where a resumer only makes a task
   ready. *)

open Effect.Shallow

exception Cancelled

(* [state], where resuming and cancelling decide (H3)

   State       Left by   To          By whom
   Running     host      Blocking n  the task, when it suspends
               cancel    Doomed      anyone: the task will not suspend any more
   Blocking n  resumer   Resumed f   anyone, while [block] runs
               host      Waiting     the task, if [block] returned [None]
               host      Running     the task, if it gave a value or raised
   Waiting     resumer   Running     anyone, and makes the task ready
               cancel    Doomed      anyone, and makes the task ready, to raise
   Resumed f   host      Running     the task, when [block] has returned
   Doomed      never

   The number of the wait keeps a late resumer from taking another wait of the
   same task for its own. *)
type state =
  | Running
  | Blocking of int
  | Waiting of int * (unit -> unit)
  | Resumed of (unit -> unit)
  | Doomed

type task = { state : state Atomic.t; mutable waits : int }

(* To be called before the processes start. *)
let task () = { state = Atomic.make Running; waits = 0 }

(* What each process will do after its own work. *)
let queues = Array.init 8 (fun _ -> Queue.create ())
let later job = Queue.add job queues.(!Atomic.current)

let rec drain queue =
  match Queue.take_opt queue with
  | None -> ()
  | Some job ->
      job ();
      drain queue

(* Good enough for who protects himself after he was cancelled. *)
let protect task =
  let before = Atomic.get task.state in
  if before == Doomed then Atomic.set task.state Running;
  fun () -> Atomic.set task.state before

let rec handler : type x. task -> (x, unit) handler =
 fun task ->
  {
    retc = ignore;
    exnc = (function Cancelled -> () | e -> raise e);
    effc =
      (fun (type a) (e : a Effect.t) ->
        match e with
        | Suspend.Suspend block -> Some (fun k -> suspend task block k)
        | Suspend.Host.Protect ->
            Some
              (fun (k : (a, _) continuation) ->
                continue_with k (protect task) (handler task))
        | _ -> None);
  }

and suspend : type a x.
    task -> (a Suspend.resumer -> a option) -> (a, x) continuation -> unit =
 fun task block k ->
  let go_on = function
    | Ok v -> continue_with k v (handler task)
    | Error e -> discontinue_with k e (handler task)
  in
  task.waits <- task.waits + 1;
  let n = task.waits in
  let rec resumer outcome =
    match Atomic.get task.state with
    | Blocking number as before when number = n ->
        Atomic.compare_and_set task.state before
          (Resumed (fun () -> go_on outcome))
        || resumer outcome
    | Waiting (number, _) as before when number = n ->
        if Atomic.compare_and_set task.state before Running then begin
          later (fun () -> go_on outcome);
          true
        end
        else resumer outcome
    | Running | Blocking _ | Waiting _ | Resumed _ | Doomed -> false
  in
  let blocking = Blocking n in
  let leave_block next otherwise =
    if Atomic.compare_and_set task.state blocking next then otherwise ()
    else
      match Atomic.exchange task.state Running with
      | Resumed f -> f ()
      | Running | Blocking _ | Waiting _ | Doomed ->
          failwith "only a resumer leaves Blocking"
  in
  if Atomic.compare_and_set task.state Running blocking then
    match block resumer with
    | None ->
        let unwind () = go_on (Error Cancelled) in
        leave_block (Waiting (n, unwind)) ignore
    | Some v ->
        (* S1: it has not registered the resumer. *)
        if Atomic.compare_and_set task.state blocking Running then go_on (Ok v)
        else failwith "S1: both registered and answered"
    | exception e -> leave_block Running (fun () -> go_on (Error e))
  else go_on (Error Cancelled)

(* Runs [f] as a task of the calling process. *)
let run task f = continue_with (fiber f) () (handler task)

let rec cancel task =
  match Atomic.get task.state with
  | Running ->
      if not (Atomic.compare_and_set task.state Running Doomed) then cancel task
  | Waiting (_, unwind) as before ->
      if Atomic.compare_and_set task.state before Doomed then later unwind
      else (* resumed *) ()
  | Blocking _ | Resumed _ | Doomed ->
      (* A host cannot interrupt [block]; here the request is dropped. *) ()

let failed = ref false

(* [check name ~expect scenario]: [scenario ()] gives the processes, and a function
   that describes the outcome at rest, or raises. The outcomes of all
   interleavings together are exactly [expect]. *)
let check name ~expect scenario =
  let start = Stdlib.Sys.time () in
  let seen = Hashtbl.create 16 in
  let interleavings = ref 0 in
  let once () =
    Array.iter Queue.clear queues;
    Atomic.current := 0;
    let processes, outcome = scenario () in
    drain queues.(0);
    let spawn i process =
      Dscheck.TracedAtomic.spawn @@ fun () ->
      Atomic.current := i;
      process ();
      Atomic.current := i;
      drain queues.(i)
    in
    List.iteri spawn processes;
    Dscheck.TracedAtomic.final @@ fun () ->
    incr interleavings;
    Dscheck.TracedAtomic.check @@ fun () ->
    match outcome () with
    | outcome ->
        let before = Option.value ~default:0 (Hashtbl.find_opt seen outcome) in
        Hashtbl.replace seen outcome (before + 1);
        true
    | exception Failure problem ->
        Printf.printf "%s: %s\n" name problem;
        false
  in
  Dscheck.TracedAtomic.trace once;
  Printf.printf "%s: %d interleavings, %.1f s\n" name !interleavings
    (Stdlib.Sys.time () -. start);
  Hashtbl.to_seq seen |> List.of_seq |> List.sort compare
  |> List.iter (fun (outcome, count) ->
      let unexpected = not (List.mem outcome expect) in
      if unexpected then failed := true;
      Printf.printf "%s %8d  %S\n"
        (if unexpected then "UNEXPECTED" else "          ")
        count outcome);
  List.iter
    (fun outcome ->
      if not (Hashtbl.mem seen outcome) then begin
        failed := true;
        Printf.printf "NEVER HAPPENED: %S\n" outcome
      end)
    expect;
  flush stdout

let finish () = if !failed then exit 1
