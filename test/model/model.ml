(* Model checking with tasks that wait.

   A process of dscheck can't be suspended. So a task that waits leaves its process. The
   process that resumes or cancels it runs the task, but only after its own current work. A
   host behaves like this too, because there a resumer only makes a task ready. *)

open Effect.Shallow

exception Cancelled

(* [state], on which a resumer and a cancellation compete (H3)

   Phase       Left by   To          By whom
   Running     host      Blocking n  the task, when it suspends, unless [doomed]
   Blocking n  resumer   Resumed f   any process, while [block] runs
               host      Waiting     the task, if [block] returned [None]
               host      Running     the task, if [block] returned a value or raised
   Waiting     resumer   Running     any process, which makes the task ready
               cancel    Running     any process, which makes the task ready, to raise,
                                     unless [shielded]
   Resumed f   host      Running     the task, when [block] has returned

   A cancellation makes the task [doomed] forever if it is [Running], [Waiting] or
   [shielded]. A doomed task doesn't suspend again, except inside [protect]. If the task is
   [Blocking] or [Resumed], and not [shielded], the cancellation has no effect.

   Each wait has a number, so that a resumer of an earlier wait can't resume a later wait
   of the same task. *)
type phase =
  | Running
  | Blocking of int
  | Waiting of int * (unit -> unit)
  | Resumed of (unit -> unit)

type state = { phase : phase; shielded : bool; doomed : bool }
type task = { state : state Atomic.t; mutable waits : int }

(* Scenarios call this before the processes start. *)
let task () =
  let state = { phase = Running; shielded = false; doomed = false } in
  { state = Atomic.make state; waits = 0 }

let who task = Who.make ~host:"model" ~name:"a task" task

exception Unwound

(* The stack of a continuation that is never continued is never freed. So the process is
   unwound. Its handlers have no effect, because each operation on an atomic performs
   [Abandoned]. A process is left as it is if a loop in it catches all exceptions, as the loop
   of a scheduler does. *)
let or_abandoned f =
  let times = ref 0 in
  let effc (type a) (e : a Effect.t) :
      ((a, unit) Effect.Deep.continuation -> unit) option =
    match e with
    | Atomic.Abandoned ->
        incr times;
        Some
          (if !times > 3 then ignore
           else fun k -> Effect.Deep.discontinue k Unwound)
    | _ -> None
  in
  try Effect.Deep.try_with f () { effc } with _ when !Atomic.abandoned -> ()

(* The continuations of tasks that suspended in this interleaving. Some were continued since. *)
let suspended = ref []

let unwind_suspended () =
  Atomic.abandoned := true;
  List.iter or_abandoned !suspended;
  suspended := []

(* What each process does after its own work. *)
let queues = Array.init 8 (fun _ -> Queue.create ())
let later job = Queue.add job queues.(!Atomic.current)

let rec drain queue =
  match Queue.take_opt queue with
  | None -> ()
  | Some job ->
      job ();
      drain queue

let rec shield task shielded =
  let before = Atomic.get task.state in
  if not (Atomic.compare_and_set task.state before { before with shielded })
  then shield task shielded

(* Whether this interleaving reached a state from which it may continue forever. *)
let abandoned = ref false

let rec handler : type x. task -> (x, unit) handler =
 fun task ->
  {
    retc = ignore;
    exnc =
      (function
      | Cancelled -> ()
      | Shuffle.Too_often -> abandoned := true
      | e -> raise e);
    effc =
      (fun (type a) (e : a Effect.t) ->
        match e with
        | Suspend.Suspend block -> Some (fun k -> suspend task block k)
        | Suspend.Protect ->
            Some
              (fun (k : (a, _) continuation) ->
                shield task true;
                continue_with k (fun () -> shield task false) (handler task))
        | Suspend.Ask { question = Reach.Who; _ } ->
            Some
              (fun (k : (a, _) continuation) ->
                continue_with k (who task) (handler task))
        | Suspend.Ask { otherwise; _ } ->
            Some
              (fun (k : (a, _) continuation) ->
                continue_with k otherwise (handler task))
        | _ -> None);
  }

and suspend : type a x.
    task -> (a Suspend.resumer -> a option) -> (a, x) continuation -> unit =
 fun task block k ->
  let go_on = function
    | Ok v -> continue_with k v (handler task)
    | Error e -> discontinue_with k e (handler task)
  in
  suspended :=
    (fun () -> discontinue_with k Unwound (handler task)) :: !suspended;
  task.waits <- task.waits + 1;
  let n = task.waits in
  let rec resumer outcome =
    let before = Atomic.get task.state in
    match before.phase with
    | Blocking number when number = n ->
        let phase = Resumed (fun () -> go_on outcome) in
        Atomic.compare_and_set task.state before { before with phase }
        || resumer outcome
    | Waiting (number, _) when number = n ->
        if
          Atomic.compare_and_set task.state before
            { before with phase = Running }
        then begin
          later (fun () -> go_on outcome);
          true
        end
        else resumer outcome
    | Running | Blocking _ | Waiting _ | Resumed _ -> false
  in
  let rec leave_block phase ~resumed otherwise =
    let before = Atomic.get task.state in
    let again () = leave_block phase ~resumed otherwise in
    let leave phase f =
      if Atomic.compare_and_set task.state before { before with phase } then
        f ()
      else (* another process resumed it, or cancelled it *) again ()
    in
    match before.phase with
    | Blocking _ -> leave phase otherwise
    | Resumed f -> leave Running (resumed f)
    | Running | Waiting _ -> failwith "only a resumer leaves Blocking"
  in
  let rec start () =
    let before = Atomic.get task.state in
    if before.doomed && not before.shielded then go_on (Error Cancelled)
    else if
      not
        (Atomic.compare_and_set task.state before
           { before with phase = Blocking n })
    then start ()
    else
      match block resumer with
      | None ->
          let unwind () = go_on (Error Cancelled) in
          leave_block (Waiting (n, unwind)) ~resumed:Fun.id ignore
      | Some v ->
          let resumed _ = failwith "S1: both registered and answered" in
          leave_block Running ~resumed (fun () -> go_on (Ok v))
      | exception e ->
          leave_block Running ~resumed:Fun.id (fun () -> go_on (Error e))
  in
  start ()

(* Runs [f] as a task of the calling process. *)
let run task f = continue_with (fiber f) () (handler task)

let rec cancel task =
  let before = Atomic.get task.state in
  let attempt phase f =
    if
      Atomic.compare_and_set task.state before
        { before with phase; doomed = true }
    then f ()
    else (* it was resumed, or continued *) cancel task
  in
  if not before.doomed then
    match before.phase with
    | Waiting (_, unwind) when not before.shielded ->
        attempt Running (fun () -> later unwind)
    | (Blocking _ | Resumed _) when not before.shielded ->
        (* A host can't interrupt [block]. Here the request is dropped. *) ()
    | (Running | Waiting _ | Blocking _ | Resumed _) as phase ->
        attempt phase ignore

let failed = ref false

(* With [true], [check] prints nothing. *)
let silent = ref false
let say fmt = if !silent then Printf.ifprintf stdout fmt else Printf.printf fmt

(* --- Scenarios with many interleavings -------------------------------------- *)

let long = Stdlib.Sys.getenv_opt "CONCORD_LONG" = Some "1"

let seed =
  match
    Option.bind (Stdlib.Sys.getenv_opt "CONCORD_SEED") int_of_string_opt
  with
  | Some seed -> seed
  | None -> Random.State.bits (Random.State.make_self_init ())

(* How many interleavings of a scenario a run checks. The seed selects one scenario in four, and
   one in 16, of which it checks more, so other runs do so for others. With [long] it checks all. *)
let usual_most n =
  if long then max_int
  else if n mod 16 = 0 then 10_000
  else if n mod 4 = 0 then 2_000
  else 1_000

let scenarios = ref 0

exception Enough

(* The result is whether all interleavings were explored. [so_far ()] is their number. *)
let explore ?most ~so_far scenario =
  incr scenarios;
  let most =
    match most with
    | Some n -> if long then 10 * n else n
    | None -> usual_most ((seed + !scenarios) land max_int)
  in
  (* What runs after the scenario is not part of its last interleaving. *)
  let finally () =
    unwind_suspended ();
    Atomic.abandoned := false
  in
  Fun.protect ~finally @@ fun () ->
  match
    Dscheck.TracedAtomic.trace (fun () ->
        if so_far () >= most then raise Enough;
        scenario ())
  with
  | () -> true
  | exception Enough -> false

(* In [check name ~expect scenario], [scenario ()] returns the processes and a function. The
   function describes the outcome at rest, or raises. The outcomes of all interleavings
   together must be exactly [expect]. Those in [also] may occur. With [most], a run checks so
   many interleavings at most, or ten times as many if it is [long]. *)
let check ?(also = []) ?most name ~expect scenario =
  let start = Stdlib.Sys.time () in
  let seen = Hashtbl.create 16 in
  let interleavings = ref 0 and given_up = ref 0 in
  let once () =
    unwind_suspended ();
    Array.iter Queue.clear queues;
    Atomic.current := 0;
    Atomic.abandoned := false;
    Shuffle.reset ();
    abandoned := false;
    let processes, outcome = scenario () in
    drain queues.(0);
    let spawn i process =
      Dscheck.TracedAtomic.spawn @@ fun () ->
      or_abandoned @@ fun () ->
      Atomic.current := i;
      process ();
      Atomic.current := i;
      drain queues.(i)
    in
    List.iteri spawn processes;
    Dscheck.TracedAtomic.final @@ fun () ->
    incr interleavings;
    Dscheck.TracedAtomic.check @@ fun () ->
    if !abandoned then incr given_up;
    !abandoned
    ||
    match outcome () with
    | outcome ->
        let before = Option.value ~default:0 (Hashtbl.find_opt seen outcome) in
        Hashtbl.replace seen outcome (before + 1);
        true
    | exception Failure problem ->
        say "%s: %s\n" name problem;
        false
  in
  let whole = explore once ?most ~so_far:(fun () -> !interleavings) in
  say "%s: %d interleavings%s%s, %.1f s\n" name !interleavings
    (if !given_up = 0 then "" else Printf.sprintf " (%d given up)" !given_up)
    (if whole then ""
     else
       Printf.sprintf
         ", not all (CONCORD_SEED=%d checks the same; CONCORD_LONG=1 checks \
          more)"
         seed)
    (Stdlib.Sys.time () -. start);
  Hashtbl.to_seq seen |> List.of_seq |> List.sort compare
  |> List.iter (fun (outcome, count) ->
      let unexpected = not (List.mem outcome expect || List.mem outcome also) in
      if unexpected then failed := true;
      say "%s %8d  %S\n"
        (if unexpected then "UNEXPECTED" else "          ")
        count outcome);
  List.iter
    (fun outcome ->
      if whole && not (Hashtbl.mem seen outcome) then begin
        failed := true;
        say "NEVER HAPPENED: %S\n" outcome
      end)
    expect;
  flush stdout

let finish () = if !failed then exit 1
