open Concord
open Concord.Tools
open Host_signature
open Host_tasks
open Trial

exception Boom

(* --- S1: block ------------------------------------------------------------------ *)

(* The block of one task resumes another task that waits. Then it may suspend its own task,
   return a value, or raise. *)
let block_resumes_another h block_ends () =
  let post_a = post () and post_b = post () in
  let ended = Atomic.make false in
  let other () =
    poll (fun () -> Atomic.get ended || not (is_empty post_b));
    if not (Atomic.get ended) then
      yes "the resumer returned false, although its task was still waiting"
        ((collect post_b) (Ok 2))
  in
  beside other @@ fun () ->
  in_task h @@ fun t ->
  let a = fork t (fun () -> wait_in post_a) in
  until t (fun () -> not (is_empty post_a));
  let resume_a = collect post_a and accepted = Atomic.make false in
  let block resumer =
    if resume_a (Ok 1) then Atomic.set accepted true;
    block_ends (fun () ->
        put post_b resumer;
        None)
  in
  let v = try Suspend.suspend block with Boom -> 2 in
  Atomic.set ended true;
  yes
    "the resumer that block called returned false, although its task was still \
     waiting"
    (Atomic.get accepted);
  int "the value of the task that called block" 2 v;
  int "the value of the task that block resumed" 1 (Promise.await a.ended)

let s1 h =
  let ending title block_ends =
    case title (block_resumes_another h block_ends)
  in
  {
    name = "S1";
    about = "block may call the resumers of other tasks";
    read = "\"The handler\", the rule \"No waiting\"";
    optional = false;
    cases =
      [
        ending "block resumes another task, then waits" (fun wait -> wait ());
        ending "block resumes another task, then returns Some" (fun _ -> Some 2);
        ending "block resumes another task, then raises" (fun _ -> raise Boom);
      ];
  }

(* --- S2: a refused value is not lost --------------------------------------------- *)

(* Two tasks choose between two boxes, and a domain puts values into both. *)
let choices h () =
  let n = 50 in
  let boxes = Array.init 2 (fun _ -> Mvar.create_empty ()) in
  let put () =
    for i = 1 to 2 * n do
      Mvar.put boxes.(i mod 2) i
    done
  in
  beside put @@ fun () ->
  in_task h @@ fun t ->
  let take () = Event.select (List.map Mvar.take_evt (Array.to_list boxes)) in
  let taker () = List.init n (fun _ -> take ()) in
  let a = fork t taker and b = fork t taker in
  let a = Promise.await a.ended in
  let all = List.sort compare (a @ Promise.await b.ended) in
  yes "two tasks took from two boxes, and did not get each value exactly once"
    (all = List.init (2 * n) succ)

(* A value was put into a box, and the task that waited for it was cancelled. Then either the
   task has the value, or the box still has it. *)
let is_in_one_place (module H : HOST) value task box =
  let taken =
    match Promise.await task.ended with
    | v -> Some v
    | exception e when H.is_cancellation e -> None
  in
  match (taken, Mvar.try_take box) with
  | Some v, None | None, Some v ->
      int "the value that was put into the box" value v
  | None, None ->
      fail "a value is lost: neither the cancelled task nor the box has it"
  | Some _, Some _ ->
      fail "a value is there twice: the cancelled task and the box both have it"

let put_then_cancelled h () =
  needs_cancellation h;
  in_task h @@ fun t ->
  let box = Mvar.create_empty () in
  let task = fork t (fun () -> Mvar.take box) in
  until t (fun () -> Mvar.waiters box = 1);
  Mvar.put box 1;
  task.cancel ();
  is_in_one_place h 1 task box

(* A domain puts a value while the task that waits for it is being cancelled. *)
let cancelled_takers h random () =
  needs_cancellation h;
  let rounds = 200 and mine = random 6 and others = random 7 in
  let box = Mvar.create_empty () in
  let go = Atomic.make 0 and put = Atomic.make 0 in
  let other () =
    for i = 1 to rounds do
      soon (fun () -> Atomic.get go = i);
      spin (Random.State.int others 2000);
      Mvar.put box i;
      Atomic.set put i
    done
  in
  beside other @@ fun () ->
  in_task h @@ fun t ->
  for i = 1 to rounds do
    let task = fork t (fun () -> Mvar.take box) in
    until t (fun () -> Mvar.waiters box = 1);
    Atomic.set go i;
    spin (Random.State.int mine 3000);
    task.cancel ();
    until t (fun () -> Atomic.get put = i);
    is_in_one_place h i task box;
    alive ()
  done

let s2 h random =
  {
    name = "S2";
    about = "if a resumer returns false, the value goes to the next waiter";
    read = "\"The handler\", the rule \"One decision\"";
    optional = false;
    cases =
      [
        case "two tasks choose between two boxes" (choices h);
        case "a task is given a value, then cancelled" (put_then_cancelled h);
        case "a task is cancelled while a domain gives it a value"
          (cancelled_takers h random);
      ];
  }

(* --- S3: a cancelled task withdraws ---------------------------------------------- *)

let unwound (module H : HOST) task =
  match Promise.await task.ended with
  | _ ->
      fail
        "the cancelled task returned, but the cancellation should raise in it"
  | exception e when H.is_cancellation e -> ()

let withdraws h () =
  needs_cancellation h;
  in_task h @@ fun t ->
  let box = Mvar.create_empty () and cleaned = Atomic.make false in
  let take () =
    Fun.protect
      (fun () -> Mvar.take box)
      ~finally:(fun () -> Atomic.set cleaned true)
  in
  let task = fork t take in
  until t (fun () -> Mvar.waiters box = 1);
  task.cancel ();
  unwound h task;
  yes "the cancelled task raised, but its Fun.protect ~finally did not run"
    (Atomic.get cleaned);
  int "waiters of the box after the cancellation" 0 (Mvar.waiters box);
  Mvar.put box 1;
  yes "the next value is not in the box, because it went to the cancelled task"
    (Mvar.try_take box = Some 1)

(* The task behind a cancelled one gets the mutex. *)
let keeps_no_turn h () =
  needs_cancellation h;
  in_task h @@ fun t ->
  let mutex = Mutex.create () in
  Mutex.lock mutex;
  let lock () =
    Mutex.lock mutex;
    Mutex.unlock mutex
  in
  let behind n =
    let task = fork t lock in
    until t (fun () -> Mutex.waiters mutex = n);
    task
  in
  let first = behind 1 in
  let second = behind 2 in
  first.cancel ();
  unwound h first;
  Mutex.unlock mutex;
  Promise.await second.ended;
  yes "the mutex is still locked after its last owner has unlocked it"
    (Mutex.try_lock mutex)

let s3 h =
  {
    name = "S3";
    about =
      "a cancelled task is unwound where it waits, and withdraws its waiter";
    read = "\"Cancellation\"";
    optional = false;
    cases =
      [
        case "a task waits for a box" (withdraws h);
        case "two tasks wait for a mutex" (keeps_no_turn h);
      ];
  }

(* --- S4: order -------------------------------------------------------------------- *)

let in_order h () =
  in_task h @@ fun t ->
  let box = Mvar.create_empty () in
  let taker i =
    let task = fork t (fun () -> Mvar.take box) in
    until t (fun () -> Mvar.waiters box = i + 1);
    task
  in
  let tasks = List.init 5 taker in
  beside (fun () -> List.iter (Mvar.put box) [ 0; 1; 2; 3; 4 ]) @@ fun () ->
  List.iteri
    (fun i task ->
      int "the value of a task, which is its number in the order of arrival" i
        (Promise.await task.ended))
    tasks

let s4 h =
  {
    name = "S4";
    about = "waiting tasks are served in the order of arrival";
    read = "\"The handler\"";
    optional = false;
    cases = [ case "five tasks take from a box" (in_order h) ];
  }

(* --- S5: backtraces ----------------------------------------------------------------- *)

let[@inline never] culprit () = if true then raise Boom

(* Whether the backtrace of the exception that was just caught has [culprit] in it. *)
let names_culprit () =
  let slots = Printexc.(backtrace_slots (get_raw_backtrace ())) in
  let names slot =
    match Printexc.Slot.name slot with
    | Some name -> String.ends_with ~suffix:"culprit" name
    | None -> false
  in
  Array.exists names (Option.value slots ~default:[||])

let keeps_backtrace f =
  Printexc.record_backtrace true;
  match f () with
  | () -> fail "the function returned, but it should raise"
  | exception Boom -> names_culprit ()

let if_there_are_any () =
  if not (keeps_backtrace culprit) then
    raise (Not_offered "the program has no debug information")

(* The task may continue on a domain that does not record backtraces yet. [keeps_backtrace]
   turns that on in each domain, so the case tries again. *)
let rounds = 100

let keeps_backtrace_in_some_round f =
  let rec try_round i =
    let before = Domain.self () in
    keeps_backtrace (fun () -> f i)
    || (Domain.self () <> before && i + 1 < rounds && try_round (i + 1))
  in
  try_round 0

let awaited h () =
  if_there_are_any ();
  let promises = Array.init rounds (fun _ -> Promise.create ()) in
  let kept = Atomic.make false in
  let fail_it promise =
    poll (fun () -> Atomic.get kept || Promise.waiters promise = 1);
    try culprit ()
    with e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Promise.fail ~backtrace promise e
  in
  let other () =
    Printexc.record_backtrace true;
    Array.iter fail_it promises
  in
  let await _ =
    let kept =
      keeps_backtrace_in_some_round (fun i -> Promise.await promises.(i))
    in
    if not kept then
      fail "the exception of the promise arrived without its backtrace"
  in
  beside other @@ fun () ->
  in_task h await;
  Atomic.set kept true

let s5 h =
  {
    name = "S5";
    about = "an exception that travels with a value keeps its backtrace";
    read = "\"The handler\"";
    optional = false;
    cases = [ case "a promise fails" (awaited h) ];
  }

(* The contract does not demand this, so a host may declare that it is not offered. *)
let of_block_and_run (module H : HOST) () =
  if_there_are_any ();
  let expect who kept =
    if not kept then fail "an exception of %s loses its backtrace" who
  in
  let block _ =
    culprit ();
    None
  in
  in_task
    (module H)
    (fun _ ->
      expect "block"
        (keeps_backtrace_in_some_round (fun _ -> Suspend.suspend block)));
  expect "the first task"
    (keeps_backtrace (fun () ->
         H.run (fun _ ->
             Printexc.record_backtrace true;
             culprit ())))

let backtraces h =
  {
    name = "backtraces";
    about = "exceptions of block and of the first task keep their backtraces";
    read = "\"A complete scheduler\"";
    optional = true;
    cases = [ case "block raises, then the first task" (of_block_and_run h) ];
  }

let clauses ~seed h =
  let random n = Random.State.make [| seed; n |] in
  [ s1 h; s2 h random; s3 h; s4 h; s5 h; backtraces h ]
