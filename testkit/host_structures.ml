open Concord
open Concord.Tools
open Host_signature
open Host_tasks
open Trial

exception Boom

(* --- S1: what a block does ----------------------------------------------------- *)

(* A task that waits is resumed in the block of another one, which waits too, or not. *)
let block_resumes_another h block_ends () =
  let post_a = post () and post_b = post () in
  let ended = Atomic.make false in
  let other () =
    poll (fun () -> Atomic.get ended || not (is_empty post_b));
    if not (Atomic.get ended) then yes "it is refused" ((collect post_b) (Ok 2))
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
  yes "the other one is refused" (Atomic.get accepted);
  int "the value of the one" 2 v;
  int "the value of the other" 1 (Promise.await a.ended)

let s1 h =
  let ending title block_ends =
    case title (block_resumes_another h block_ends)
  in
  {
    name = "S1";
    about = "block may call the resumers of other tasks";
    cases =
      [
        ending "then it waits" (fun wait -> wait ());
        ending "then it returns Some" (fun _ -> Some 2);
        ending "then it raises" (fun _ -> raise Boom);
      ];
  }

(* --- S2: what is refused is not lost -------------------------------------------- *)

(* Two tasks choose between two boxes, into which a domain puts. *)
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
  yes "each value arrives once" (all = List.init (2 * n) succ)

(* A value was put for a task that was cancelled, before or after: it is in one place. *)
let is_in_one_place (module H : HOST) value task box =
  let taken =
    match Promise.await task.ended with
    | v -> Some v
    | exception e when H.is_cancellation e -> None
  in
  match (taken, Mvar.take_available box) with
  | Some v, None | None, Some v -> int "the value" value v
  | None, None -> fail "a value is lost"
  | Some _, Some _ -> fail "a value is there twice"

let put_then_cancelled h () =
  needs_cancellation h;
  in_task h @@ fun t ->
  let box = Mvar.create_empty () in
  let task = fork t (fun () -> Mvar.take box) in
  until t (fun () -> Mvar.waiters box = 1);
  Mvar.put box 1;
  task.cancel ();
  is_in_one_place h 1 task box

(* A domain puts while the task that waits for it is cancelled. *)
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
    about = "what a resumer refuses goes to the next one: nothing is lost";
    cases =
      [
        case "two tasks choose between two boxes" (choices h);
        case "a task is given a value, then cancelled" (put_then_cancelled h);
        case "a task is cancelled while a domain gives it a value"
          (cancelled_takers h random);
      ];
  }

(* --- S3: who is cancelled withdraws ---------------------------------------------- *)

let unwound (module H : HOST) task =
  match Promise.await task.ended with
  | _ -> fail "the cancelled task continues"
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
  yes "it is not unwound" (Atomic.get cleaned);
  int "waiters of the box" 0 (Mvar.waiters box);
  Mvar.put box 1;
  yes "the value is taken by nobody" (Mvar.take_available box = Some 1)

(* The one behind it has its turn. *)
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
  yes "the mutex is unlocked" (Mutex.try_lock mutex)

let s3 h =
  {
    name = "S3";
    about = "a task that is cancelled is unwound where it waits, and withdraws";
    cases =
      [ case "in a box" (withdraws h); case "in a mutex" (keeps_no_turn h) ];
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
  List.iteri (fun i task -> int "the value" i (Promise.await task.ended)) tasks

let s4 h =
  {
    name = "S4";
    about = "who waits is served in the order of arrival";
    cases = [ case "five tasks take" (in_order h) ];
  }

(* --- S5: backtraces ----------------------------------------------------------------- *)

let[@inline never] culprit () = if true then raise Boom

(* Of an exception that was just caught. *)
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
  | () -> fail "nothing is raised"
  | exception Boom -> names_culprit ()

let if_there_are_any () =
  if not (keeps_backtrace culprit) then
    raise (Not_offered "the program has no debug information")

(* The task may continue on a domain in which backtraces are not recorded yet: so again,
   as [keeps_backtrace] has them recorded. *)
let awaited h () =
  if_there_are_any ();
  let rounds = 100 in
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
  let rec await i =
    let before = Domain.self () in
    if not (keeps_backtrace (fun () -> Promise.await promises.(i))) then
      if Domain.self () <> before && i + 1 < rounds then await (i + 1)
      else fail "the backtrace is lost"
  in
  beside other @@ fun () ->
  in_task h (fun _ -> await 0);
  Atomic.set kept true

let s5 h =
  {
    name = "S5";
    about = "an exception that travels with a value keeps its backtrace";
    cases = [ case "a promise fails" (awaited h) ];
  }

(* The contract does not ask for these. *)
let of_block_and_run (module H : HOST) () =
  if_there_are_any ();
  let expect who kept =
    if not kept then
      raise (Not_offered ("the backtrace of what " ^ who ^ " raises is lost"))
  in
  let block _ =
    culprit ();
    None
  in
  in_task
    (module H)
    (fun _ ->
      expect "block" (keeps_backtrace (fun () -> Suspend.suspend block)));
  expect "the first task"
    (keeps_backtrace (fun () ->
         H.run (fun _ ->
             Printexc.record_backtrace true;
             culprit ())))

let backtraces h =
  {
    name = "backtraces";
    about = "what block, or the first task, raises keeps its backtrace";
    cases = [ case "block raises, then the first task" (of_block_and_run h) ];
  }

let clauses ~seed h =
  let random n = Random.State.make [| seed; n |] in
  [ s1 h; s2 h random; s3 h; s4 h; s5 h; backtraces h ]
