open Concord
open Concord.Tools
open Host_signature
open Host_tasks
open Trial

exception Boom

let twice h () =
  in_task h @@ fun _ ->
  let outcome first =
    Suspend.suspend (fun resumer ->
        yes "the first call returned false, although the task was still waiting"
          (resumer first);
        yes "the second call returned true, although the first one had decided"
          (not (resumer (Ok 9)));
        None)
  in
  int "the value with which the task continues" 8 (outcome (Ok 8));
  match outcome (Error Boom) with
  | _ ->
      fail
        "the task continues with a value, although it was resumed with an \
         exception"
  | exception Boom -> ()

(* A resumer that is called in [block] makes its promise there. [block] may still return a
   value or raise, and that must not change the outcome. *)
let accepted_then_some h () =
  in_task h @@ fun _ ->
  let v block_ends =
    Suspend.suspend (fun resumer ->
        yes
          "the resumer returned false in block, although nothing had decided \
           yet"
          (resumer (Ok 1));
        block_ends ())
  in
  int
    "the value of a task that was resumed in block, which then returned Some 2"
    1
    (v (fun () -> Some 2));
  int "the value of a task that was resumed in block, which then raised" 1
    (v (fun () -> raise Boom))

(* The resumers of earlier waits must not resume the present wait. *)
let late h () =
  in_task h @@ fun _ ->
  let old = ref [] in
  let keeping block_ends =
    Suspend.suspend (fun resumer ->
        old := resumer :: !old;
        block_ends resumer)
  in
  let v =
    keeping (fun resumer ->
        ignore (resumer (Ok 1) : bool);
        None)
  in
  int "the value with which the task continues" 1 v;
  int "the value with which the task continues" 2 (keeping (fun _ -> Some 2));
  (try int "the value, although block raised" 0 (keeping (fun _ -> raise Boom))
   with Boom -> ());
  let refuses resumer =
    yes "the resumer of an earlier wait returned true" (not (resumer (Ok 9)))
  in
  List.iter refuses !old;
  let v =
    Suspend.suspend (fun resumer ->
        List.iter refuses !old;
        yes "the resumer of the present wait returned false" (resumer (Ok 3));
        None)
  in
  int "the value with which the task continues" 3 v

(* In each round two domains race to call the same resumer. *)
let two_callers h random () =
  let rounds = 100 in
  let now = Atomic.make (0, fun _ -> false) and over = Atomic.make 0 in
  let accepted = Array.init 2 (fun _ -> Array.make (rounds + 1) false) in
  let caller i () =
    let random = random (i + 1) in
    for round = 1 to rounds do
      soon (fun () -> fst (Atomic.get now) = round);
      spin (Random.State.int random 1000);
      accepted.(i).(round) <- (snd (Atomic.get now)) (Ok i);
      Atomic.incr over
    done
  in
  beside (caller 0) @@ fun () ->
  beside (caller 1) @@ fun () ->
  in_task h @@ fun t ->
  for round = 1 to rounds do
    let block resumer =
      Atomic.set now (round, resumer);
      None
    in
    let winner = Suspend.suspend block in
    until t (fun () -> Atomic.get over = 2 * round);
    yes
      "two domains called one resumer, and it did not return true exactly once"
      (accepted.(0).(round) <> accepted.(1).(round));
    yes "the task continues with the outcome of a call that returned false"
      accepted.(winner).(round);
    alive ()
  done

(* Checks that the outcome of the task agrees with the answer of the resumer. *)
let agree (module H : HOST) accepted (task : int forked) =
  match Promise.await task.ended with
  | v ->
      int "the value with which the task continues" 1 v;
      yes
        "the task continues with the value, although the resumer returned false"
        accepted
  | exception e when H.is_cancellation e ->
      yes "the task was cancelled, although the resumer returned true"
        (not accepted)

let resumed_then_cancelled h () =
  needs_cancellation h;
  in_task h @@ fun t ->
  let post = post () in
  let task = fork t (fun () -> wait_in post) in
  until t (fun () -> not (is_empty post));
  let resumer = collect post in
  yes "the resumer returned false, although its task was still waiting"
    (resumer (Ok 1));
  task.cancel ();
  agree h true task;
  yes "the resumer returned true, although the outcome was decided"
    (not (resumer (Ok 2)))

let cancelled_then_resumed h () =
  needs_cancellation h;
  in_task h @@ fun t ->
  let post = post () in
  let task = fork t (fun () -> wait_in post) in
  until t (fun () -> not (is_empty post));
  let resumer = collect post in
  task.cancel ();
  agree h (resumer (Ok 1)) task;
  yes "the resumer returned true, although the outcome was decided"
    (not (resumer (Ok 2)))

let race_of_cancellation h random () =
  needs_cancellation h;
  let rounds = 200 and mine = random 3 and others = random 4 in
  let posts = Array.init rounds (fun _ -> post ()) in
  let ready = Atomic.make 0 and answers = Array.make rounds false in
  let answered = Atomic.make 0 in
  let other () =
    Array.iteri
      (fun i post ->
        soon (fun () -> Atomic.get ready > i);
        let resumer = collect post in
        spin (Random.State.int others 2000);
        answers.(i) <- resumer (Ok 1);
        Atomic.incr answered)
      posts
  in
  beside other @@ fun () ->
  in_task h @@ fun t ->
  Array.iteri
    (fun i post ->
      let task = fork t (fun () -> wait_in post) in
      until t (fun () -> not (is_empty post));
      Atomic.incr ready;
      spin (Random.State.int mine 3000);
      task.cancel ();
      until t (fun () -> Atomic.get answered > i);
      agree h answers.(i) task;
      alive ())
    posts

let h3 h random =
  {
    name = "H3";
    about =
      "a resumer that returns true has decided, and every other call returns \
       false";
    read = "\"The handler\", the rules \"One decision\" and \"One wait\"";
    optional = false;
    cases =
      [
        case "called twice" (twice h);
        case "called in block, which then returns Some or raises"
          (accepted_then_some h);
        case "called after its wait has ended" (late h);
        case "called by two domains" (two_callers h random);
        case "called, then the task is cancelled" (resumed_then_cancelled h);
        case "called after the task was cancelled" (cancelled_then_resumed h);
        case "called while the task is cancelled"
          (race_of_cancellation h random);
      ];
  }
