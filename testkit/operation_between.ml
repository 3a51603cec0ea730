open Operation_scene
open Operation_outcome
module Hand = Operation_hand

(* --- One moment ------------------------------------------------------------------- *)

(* How often [beside] checks, every 0.1 ms, whether its thread has ended. Then it gives up,
   because the thread may need a lock that the stopped operation holds. *)
let patience = 40

(* Runs [f ()] in a thread, and waits a short time for its end. It does not wait longer,
   because the calling thread may hold a lock that [f] needs. The result is a function that
   waits until [f] has ended. *)
let beside f =
  let begun = Atomic.make false and ended = Atomic.make None in
  let body () =
    ignore (Thread.sigmask SIG_BLOCK [ Moments.signal ] : int list);
    Atomic.set begun true;
    let outcome = match f () with () -> Ok () | exception e -> Error e in
    Atomic.set ended (Some outcome)
  in
  let thread = Thread.create body () in
  while not (Atomic.get begun) do
    Thread.yield ()
  done;
  let left = ref patience in
  Thread.yield ();
  while Atomic.get ended = None && !left > 0 do
    Thread.delay 0.000_1;
    decr left
  done;
  fun () ->
    Thread.join thread;
    match Atomic.get ended with
    | Some (Error e) -> raise e
    | Some (Ok ()) | None -> ()

(* [at n main other] calls [main ~arm ~disarm], and runs [other ()] at the [n]th moment
   between [arm ()] and [disarm ()]. A moment is a point at which OCaml runs a signal
   handler. If there are fewer moments, the result is [false] and [other] is not called. *)
let at n main other =
  let me = Thread.self () in
  let left = ref n and armed = ref false and conclude = ref ignore in
  let handler send =
    if !armed then
      if Thread.self () != me then send ()
      else begin
        decr left;
        if !left > 0 then send ()
        else begin
          armed := false;
          conclude := beside other
        end
      end
  in
  Moments.with_handler handler (fun send ->
      let arm () =
        if !left > 0 then begin
          armed := true;
          send ()
        end
      and disarm () = armed := false in
      Fun.protect (fun () -> main ~arm ~disarm) ~finally:disarm);
  !conclude ();
  !left = 0

(* No operation that ends soon has as many moments. *)
let most = 500

(* Up to OCaml 5.4.1 the bytecode interpreter may run a signal handler while it allocates the
   continuation of an effect. Afterwards it uses a stack that may have been freed. *)
let handlers_are_safe () =
  only_if
    (Sys.backend_type = Sys.Native)
    "it needs native code, because a signal during an effect is unsafe in \
     bytecode"

(* Calls [f s n] for [n] = 1, 2, ..., until it returns [false]. *)
let each_moment f s =
  handlers_are_safe ();
  let rec go n =
    let is_next =
      try f (s.fresh ()) n
      with Trial.Failed text ->
        Trial.fail
          "at moment %d of the operation (where OCaml could run a signal \
           handler): %s"
          n text
    in
    Trial.alive ();
    if is_next && n < most then go (n + 1)
  in
  go 1

(* --- The event at that moment ----------------------------------------------------- *)

let alone s =
  only_if
    (s.service <> Operation_signature.Meets)
    "no task continues before all parties are there"

(* Starts a release on the scheduler of [s]. It may have to wait there. *)
let begin_release s = Hand.start s.hand (fun () -> release s)

let release_is_over (task : unit Hand.task) =
  match Hand.outcome task with
  | Returned () | Raised (Hand.Cancelled, _) -> true
  | Waits -> false
  | Raised (e, _) ->
      Trial.fail "a release raised %s, but it should return"
        (Printexc.to_string e)

let both_settle a b =
  for _ = 1 to 2 do
    Hand.settle a.hand;
    Hand.settle b.hand
  done

let let_go_one s others =
  let_go s 1;
  Hand.settle others.hand

(* Checks that the task and the release met, or that the release ended before the task came. *)
let met s others w release =
  both_settle s others;
  let is_over = release_is_over release in
  if waits w then begin
    if not is_over then
      Trial.fail "task %d and a release both wait, although they could meet"
        w.number;
    if s.keeps then
      Trial.fail
        "task %d still waits, although a release should have let it continue"
        w.number;
    let_go_one s others
  end;
  served s [ w ]

let release_in_a_wait s n =
  alone s;
  let others = elsewhere s and release = ref None in
  let w = ref None in
  let reached =
    at n
      (fun ~arm ~disarm ->
        let hooks = { Hand.no_hooks with performs = arm; waits = disarm } in
        w := Some (start ~hooks s))
      (fun () -> release := Some (begin_release others))
  in
  if reached then met s others (Option.get !w) (Option.get !release);
  reached

let wait_in_a_release s n =
  alone s;
  let others = elsewhere s and release = ref None in
  let w = ref None in
  let reached =
    at n
      (fun ~arm ~disarm ->
        arm ();
        release := Some (begin_release s);
        disarm ())
      (fun () -> w := Some (start others))
  in
  if reached then met s others (Option.get !w) (Option.get !release);
  reached

(* One release lets exactly one of the two tasks that come continue. *)
let wait_in_a_wait s n =
  only_if (one_by_one s) "one release lets several tasks continue";
  only_if s.keeps "a release is not kept for tasks that come later";
  release_by_hand s;
  settle s;
  let others = elsewhere s and first = ref None and second = ref None in
  let reached =
    at n
      (fun ~arm ~disarm ->
        arm ();
        first := Some (start s);
        disarm ())
      (fun () -> second := Some (start others))
  in
  if reached then begin
    let both = List.map Option.get [ !first; !second ] in
    both_settle s others;
    Trial.equal string_of_int "tasks that still wait, of two, after one release"
      1
      (List.length (List.filter waits both));
    let_go_one s others;
    served s both
  end;
  reached

(* Two tasks wait, and the first one is cancelled during a release. *)
let first_or_second s others first second release =
  both_settle s others;
  ignore (release_is_over release : bool);
  if has_returned first then begin
    if not (waits second) then Trial.fail "one release let two tasks continue";
    let_go_one s others;
    served s [ first; second ]
  end
  else begin
    left first;
    if waits second then
      Trial.fail
        "task %d still waits, because the release was lost with the cancelled \
         task"
        second.number;
    served s [ second ]
  end;
  bounded s

let one_is_let_go s =
  only_if (one_by_one s) "one release lets several tasks continue";
  only_if s.in_order "it does not promise an order"

(* The scheduler of [s] is interrupted in a release or in a cancellation. Meanwhile the other
   scheduler does the other of these two. *)
let release_and_cancellation ~interrupted s n =
  one_is_let_go s;
  let others = elsewhere s in
  let cancels, releases =
    match interrupted with
    | `Release -> (others, s)
    | `Cancellation -> (s, others)
  in
  let first = start cancels in
  let second = start releases and release = ref None in
  let cancel () =
    ignore (Hand.cancel first.task : bool);
    Hand.settle cancels.hand
  and let_go () = release := Some (begin_release releases) in
  let main, other =
    match interrupted with
    | `Release -> (let_go, cancel)
    | `Cancellation -> (cancel, let_go)
  in
  let reached =
    at n
      (fun ~arm ~disarm ->
        arm ();
        main ();
        disarm ())
      other
  in
  if reached then first_or_second s others first second (Option.get !release);
  reached

let cases =
  [
    ("a release during a wait", each_moment release_in_a_wait);
    ("a task comes during a release", each_moment wait_in_a_release);
    ("a second task comes during a wait", each_moment wait_in_a_wait);
    ( "a task is cancelled during a release",
      each_moment (release_and_cancellation ~interrupted:`Release) );
    ( "a release during a cancellation",
      each_moment (release_and_cancellation ~interrupted:`Cancellation) );
  ]
