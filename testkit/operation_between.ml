open Operation_scene
open Operation_outcome
module Hand = Operation_hand

(* --- One moment ------------------------------------------------------------------- *)

let signal = Sys.sigusr1

(* A thread that cannot go on, because the one that is stopped has a lock, is let alone
   after so many looks, each after a tenth of a millisecond. *)
let patience = 40

(* Runs [f ()] in a thread, and waits for its end, but not long: the calling thread may
   hold what [f] needs. The result waits for as long as it takes. *)
let beside f =
  let begun = Atomic.make false and ended = Atomic.make None in
  let body () =
    ignore (Thread.sigmask SIG_BLOCK [ signal ] : int list);
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

(* Calls [f send] with this handler, which gets [send], too: it sends one signal. At most
   one is on its way, and it has to come before the old behaviour is restored, because
   that is most often the end of the process. *)
let with_handler handler f =
  Trial.needs_signals ();
  let pid = Unix.getpid () and on_its_way = Atomic.make false in
  let send () =
    Atomic.set on_its_way true;
    Unix.kill pid signal
  in
  let handle _ =
    Atomic.set on_its_way false;
    handler send
  in
  let mask = Thread.sigmask SIG_UNBLOCK [ signal ] in
  let before = Sys.signal signal (Signal_handle handle) in
  let restore () =
    while Atomic.get on_its_way do
      Thread.yield ()
    done;
    Sys.set_signal signal before;
    ignore (Thread.sigmask SIG_SETMASK mask : int list)
  in
  Fun.protect (fun () -> f send) ~finally:restore

(* [at n main other] calls [main ~arm ~disarm]; [other ()] runs at the [n]th moment
   between [arm ()] and [disarm ()]. If there were fewer, the result is [false], and
   [other] was not called. *)
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
  with_handler handler (fun send ->
      let arm () =
        if !left > 0 then begin
          armed := true;
          send ()
        end
      and disarm () = armed := false in
      Fun.protect (fun () -> main ~arm ~disarm) ~finally:disarm);
  !conclude ();
  !left = 0

(* More than any operation has that ends soon. *)
let most = 500

(* Up to OCaml 5.4.1 the interpreter runs signal handlers also while it allocates the
   continuation of an effect, and then goes on with a stack that may be gone. *)
let handlers_are_safe () =
  only_if
    (Sys.backend_type = Sys.Native)
    "in bytecode, signal handlers that come upon an effect are not safe"

(* [f s n] for each moment, until it is [false]. *)
let each_moment f s =
  handlers_are_safe ();
  let rec go n =
    let is_next =
      try f (s.fresh ()) n
      with Trial.Failed text ->
        Trial.fail "at moment %d of the operation: %s" n text
    in
    Trial.alive ();
    if is_next && n < most then go (n + 1)
  in
  go 1

(* --- What happens there -------------------------------------------------------------- *)

let alone s =
  only_if (s.service <> Operation_signature.Meets) "nobody goes on alone"

(* A release by hand in another thread, which may wait there. *)
let begin_release s = Hand.start s.hand (fun () -> release s)

let release_is_over (task : unit Hand.task) =
  match Hand.outcome task with
  | Returned () | Raised (Hand.Cancelled, _) -> true
  | Waits -> false
  | Raised (e, _) -> Trial.fail "a release raised %s" (Printexc.to_string e)

let both_settle a b =
  for _ = 1 to 2 do
    Hand.settle a.hand;
    Hand.settle b.hand
  done

let let_go_one s others =
  let_go s 1;
  Hand.settle others.hand

(* The two have met, or the release was over before the task came. *)
let met s others w release =
  both_settle s others;
  let is_over = release_is_over release in
  if waits w then begin
    if not is_over then
      Trial.fail "task %d and a release wait for each other" w.number;
    if s.keeps then
      Trial.fail "task %d waits, although it was released" w.number;
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

(* What was released once is for one of two who come. *)
let wait_in_a_wait s n =
  only_if (one_by_one s) "one release lets several go on";
  only_if s.keeps "an early release is forgotten";
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
    Trial.equal string_of_int "tasks that wait, of two, after one release" 1
      (List.length (List.filter waits both));
    let_go_one s others;
    served s both
  end;
  reached

(* Two wait; the first one is cancelled while somebody is let go. *)
let first_or_second s others first second release =
  both_settle s others;
  ignore (release_is_over release : bool);
  if has_returned first then begin
    if not (waits second) then Trial.fail "one release has let two tasks go on";
    let_go_one s others;
    served s [ first; second ]
  end
  else begin
    left first;
    if waits second then
      Trial.fail "task %d waits: the release was lost with the one that left"
        second.number;
    served s [ second ]
  end;
  bounded s

let one_is_let_go s =
  only_if (one_by_one s) "one release lets several go on";
  only_if s.in_order "it promises no order"

(* The scene [s] is interrupted, in a release or in a cancellation, and the other one
   does the other thing. *)
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
    ("a release comes in a wait", each_moment release_in_a_wait);
    ("a task comes in a release", each_moment wait_in_a_release);
    ("a task comes in a wait", each_moment wait_in_a_wait);
    ( "a task is cancelled in a release",
      each_moment (release_and_cancellation ~interrupted:`Release) );
    ( "a release comes in a cancelled wait",
      each_moment (release_and_cancellation ~interrupted:`Cancellation) );
  ]
