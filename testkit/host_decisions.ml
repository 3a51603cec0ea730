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
        yes "the first call is refused" (resumer first);
        yes "the second call is accepted" (not (resumer (Ok 9)));
        None)
  in
  int "the value" 8 (outcome (Ok 8));
  match outcome (Error Boom) with
  | _ -> fail "it does not continue with the exception"
  | exception Boom -> ()

(* A resumer that was called in [block] has promised, whatever [block] does then. *)
let accepted_then_some h () =
  in_task h @@ fun _ ->
  let v block_ends =
    Suspend.suspend (fun resumer ->
        yes "it is refused" (resumer (Ok 1));
        block_ends ())
  in
  int "the value, though block returns Some" 1 (v (fun () -> Some 2));
  int "the value, though block raises" 1 (v (fun () -> raise Boom))

(* Resumers of waits that are over do not touch the one of now. *)
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
  int "the value" 1 v;
  int "the value" 2 (keeping (fun _ -> Some 2));
  (try int "the value" 0 (keeping (fun _ -> raise Boom)) with Boom -> ());
  let refuses resumer =
    yes "one of a wait that is over accepts" (not (resumer (Ok 9)))
  in
  List.iter refuses !old;
  let v =
    Suspend.suspend (fun resumer ->
        List.iter refuses !old;
        yes "it is refused" (resumer (Ok 3));
        None)
  in
  int "the value" 3 v

(* Two domains, and the same resumer for both in each round. *)
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
    yes "both were accepted, or none"
      (accepted.(0).(round) <> accepted.(1).(round));
    yes "it does not continue with what was accepted" accepted.(winner).(round);
    alive ()
  done

(* What the task has got is what the resumer's caller was told. *)
let agree (module H : HOST) accepted (task : int forked) =
  match Promise.await task.ended with
  | v ->
      int "the value" 1 v;
      yes "the task has what the resumer had refused" accepted
  | exception e when H.is_cancellation e ->
      yes "the resumer has accepted, and the task is cancelled" (not accepted)

let resumed_then_cancelled h () =
  needs_cancellation h;
  in_task h @@ fun t ->
  let post = post () in
  let task = fork t (fun () -> wait_in post) in
  until t (fun () -> not (is_empty post));
  let resumer = collect post in
  yes "it is refused" (resumer (Ok 1));
  task.cancel ();
  agree h true task;
  yes "it accepts again" (not (resumer (Ok 2)))

let cancelled_then_resumed h () =
  needs_cancellation h;
  in_task h @@ fun t ->
  let post = post () in
  let task = fork t (fun () -> wait_in post) in
  until t (fun () -> not (is_empty post));
  let resumer = collect post in
  task.cancel ();
  agree h (resumer (Ok 1)) task;
  yes "it accepts again" (not (resumer (Ok 2)))

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
    about = "a resumer that answers true has decided, all others answer false";
    cases =
      [
        case "called twice" (twice h);
        case "called before block ends otherwise" (accepted_then_some h);
        case "of a wait that is over" (late h);
        case "called by two domains" (two_callers h random);
        case "called, then the task is cancelled" (resumed_then_cancelled h);
        case "called after the task was cancelled" (cancelled_then_resumed h);
        case "called while the task is cancelled"
          (race_of_cancellation h random);
      ];
  }
