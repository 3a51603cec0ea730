open Concord
open Concord.Tools
open Host_signature
open Host_tasks
open Trial

(* --- The stack -------------------------------------------------------------------- *)

(* The frames of the task, and of the loop below it. *)
let depth () = Printexc.(raw_backtrace_length (get_callstack 100_000))

(* A stack that grows has at least one frame more for each suspension. Other threads of the
   host, in which the task may continue, have some frames more or less. *)
let suspensions = 2_000
let margin suspensions = suspensions / 2

(* On some hosts a yield takes up to 100 ms, because it needs a thread that gets OCaml's lock
   only so often. After these seconds a host has suspended often enough, if it has done so at
   least [fewest] times. *)
let patience = 2.
let fewest = 100

let repeat step =
  let until = Unix.gettimeofday () +. patience in
  let rec go n =
    if n < fewest || (n < suspensions && Unix.gettimeofday () < until) then begin
      step ();
      go (n + 1)
    end
    else n
  in
  go 0

let stays_small h step () =
  in_task h @@ fun t ->
  let step = step t in
  for _ = 1 to 10 do
    step ()
  done;
  let before = depth () in
  alive ();
  let suspensions = repeat step in
  let after = depth () in
  if after > before + margin suspensions then
    fail
      "the stack has grown from %d to %d frames in %d suspensions. Continue a \
       task in a tail call of the handler, or from the loop"
      before after suspensions

let at_once _ () = Suspend.suspend (fun _ -> Some ())

let in_block _ () =
  Suspend.suspend (fun resumer ->
      ignore (resumer (Ok ()) : bool);
      None)

(* The other task ends with the question [false]. *)
let by_a_task h () =
  in_task h @@ fun t ->
  let questions = Mvar.create_empty () and answers = Mvar.create_empty () in
  let rec answer () =
    if Mvar.take questions then begin
      Mvar.put answers ();
      answer ()
    end
  in
  let other = fork t answer in
  let ask n =
    for _ = 1 to n do
      Mvar.put questions true;
      Mvar.take answers
    done;
    depth ()
  in
  let before = ask 10 in
  alive ();
  let after = ask suspensions in
  Mvar.put questions false;
  Promise.await other.ended;
  if after > before + margin suspensions then
    fail
      "the stack has grown from %d to %d frames while another task resumed the \
       task %d times"
      before after suspensions

let stack (module H : HOST) =
  let h = (module H : HOST) in
  {
    name = "stack";
    about = "the stack does not grow with each suspension";
    read = "\"The handler\"";
    optional = true;
    cases =
      [
        case "block returns Some" (stays_small h at_once);
        case "resumed in block" (stays_small h in_block);
        case "a task yields" (stays_small h (fun _ -> H.yield));
        case "resumed by another task" (by_a_task h);
      ];
  }

(* --- The processor ------------------------------------------------------------------ *)

(* In seconds. A loop that spins for a bounded time has stopped after the first one. *)
let settling = 0.05
let turn = 0.05

(* While this thread computes, the process must have used so many seconds of a processor, so that a
   loop could have had as many. *)
let enough = 0.15
let most_load = 0.1

let compute () =
  let until = Unix.gettimeofday () +. turn in
  while Unix.gettimeofday () < until do
    ()
  done

(* The processor time that the process uses while this thread sleeps, in proportion to what it uses
   while this thread computes. On a busy machine both are less, perhaps a tenth, so neither says
   anything alone. They are measured in turns, because a machine is busy at times. *)
let load () =
  Unix.sleepf settling;
  let used f =
    let before = Sys.time () in
    f ();
    Sys.time () -. before
  in
  let rec go asleep busy =
    alive ();
    if busy > enough then asleep /. busy
    else
      let asleep = asleep +. used (fun () -> Unix.sleepf turn) in
      go asleep (busy +. used compute)
  in
  go 0. 0.

(* Something else in the process may be busy for a moment, so a busy loop is measured again. *)
let rec least_load tries =
  let found = load () in
  if found > most_load && tries > 1 then
    Float.min found (least_load (tries - 1))
  else found

let sleeps h () =
  let post = post () in
  let other () =
    let resumer = collect post in
    let least = least_load 3 in
    if not (resumer (Ok ())) then
      fail "the resumer returned false, although its task was still waiting";
    if least > most_load then
      fail
        "all tasks wait, but the loop is busy: meanwhile the process uses %.0f \
         %% of the processor time that it uses while one thread computes. Let \
         it sleep in Suspend.suspend"
        (100. *. least)
  in
  beside other (fun () -> in_task h (fun _ -> wait_in post))

let idle h =
  {
    name = "idle";
    about = "while all tasks wait, the loop sleeps and uses no processor";
    read = "\"Sleeping\"";
    optional = true;
    cases = [ case "a task waits" (sleeps h) ];
  }

(* --- Locks ---------------------------------------------------------------------------- *)

(* No resumer has as many moments. *)
let most = 300

(* The resumer of one task is called. At its [n]th moment a signal handler calls the resumer of
   another task. The result is [false] if there are fewer moments. *)
let at_moment t n =
  let waiting () =
    let post = post () in
    let task = fork t (fun () -> wait_in post) in
    until t (fun () -> not (is_empty post));
    (task, collect post)
  in
  let a, resume_a = waiting () in
  let b, resume_b = waiting () in
  (* The task stays in this thread now, because it does not suspend. *)
  let me = Thread.self () in
  let left = ref n and armed = ref false and answer = ref None in
  let handler send =
    if !armed then
      if Thread.self () != me then send ()
      else begin
        decr left;
        if !left > 0 then send ()
        else begin
          armed := false;
          answer :=
            Some
              (match resume_b (Ok 2) with
              | accepted -> Ok accepted
              | exception e -> Error e)
        end
      end
  in
  let accepted =
    Moments.with_handler handler (fun send ->
        armed := true;
        send ();
        let accepted = resume_a (Ok 1) in
        armed := false;
        accepted)
  in
  yes "the resumer returned false, although its task was still waiting" accepted;
  let interrupted = Option.is_some !answer in
  (match !answer with
  | Some (Ok accepted) ->
      yes
        "the resumer that the signal handler called returned false, although \
         its task was still waiting"
        accepted
  | Some (Error e) ->
      (* The task of this resumer may wait forever, and [run] with it. *)
      abort
        (Failed
           (Printf.sprintf
              "a signal handler interrupted a resumer and called another one, \
               which raised %s. Perhaps a resumer holds a lock"
              (Printexc.to_string e)))
  | None -> ignore (resume_b (Ok 2) : bool));
  int "the value with which the first task continues" 1 (Promise.await a.ended);
  int "the value with which the second task continues" 2 (Promise.await b.ended);
  interrupted

(* The host's threads inherit the blocked signal, so only [with_handler] lets its caller
   receive it, and the caller does before [send] returns. Another thread would receive it too
   late. The process has no other clause, so nothing has to be restored. *)
let in_a_resumer h () =
  needs_signals ();
  ignore (Thread.sigmask SIG_BLOCK [ Moments.signal ] : int list);
  in_task h @@ fun t ->
  let rec go n =
    alive ();
    (* A moment may be missed if another thread receives the signal. *)
    let is_there _ = at_moment t n in
    if List.exists is_there [ 1; 2; 3 ] && n < most then go (n + 1)
  in
  go 1

let signals h =
  {
    name = "signals";
    about = "a signal handler may call a resumer while another resumer runs";
    read = "\"The handler\", the rule \"Signal handlers\"";
    optional = true;
    cases = [ case "at each moment of a resumer" (in_a_resumer h) ];
  }

let clauses h = [ stack h; idle h; signals h ]
