open Concord
open Concord_test_support
open Check

let ints what = Alcotest.(check (list int)) what
let waiting s n = int "waiters" n (Broadcast.waiters s)
let receiver s = Hand.start (fun () -> Broadcast.receive s)

(* Receives all values that are there. *)
let rec rest s =
  match Broadcast.try_receive s with
  | Some v -> v :: rest s
  | None -> []
  | exception Broadcast.Closed -> [ -1 ]

let everyone_sees_all () =
  let t = Broadcast.create () in
  Broadcast.send t 0;
  let a = Broadcast.subscribe t in
  Broadcast.send t 1;
  let b = Broadcast.subscribe t in
  List.iter (Broadcast.send t) [ 2; 3 ];
  int "receive" 1 (Broadcast.receive a);
  yes "poll" (Event.poll (Broadcast.receive_evt a) = Some 2);
  Broadcast.send t 4;
  ints "the others" [ 3; 4 ] (rest a);
  ints "late: from then on" [ 2; 3; 4 ] (rest b);
  ints "later" [] (rest (Broadcast.subscribe t));
  no "open" (Broadcast.is_closed t)

let waiting_in_order () =
  traced [ "sent"; "b1: 1"; "a: 1"; "c: 1"; "b2: 2" ] @@ fun say ->
  let t = Broadcast.create () in
  let a = Broadcast.subscribe t and b = Broadcast.subscribe t in
  let c = Broadcast.subscribe t in
  let start name s =
    Hand.start (fun () ->
        say (Printf.sprintf "%s: %d" name (Broadcast.receive s)))
  in
  let b1 = start "b1" b in
  let b2 = start "b2" b in
  let a = start "a" a in
  let c = start "c" c in
  waiting b 2;
  Broadcast.send t 1;
  waiting b 1;
  say "sent";
  Broadcast.send t 2;
  waiting b 0;
  Hand.settle ();
  List.iter Hand.result [ b1; b2; a; c ]

let close () =
  let t = Broadcast.create () in
  let a = Broadcast.subscribe t and b = Broadcast.subscribe t in
  let waits = receiver b in
  let cancelled = receiver b in
  List.iter (Broadcast.send t) [ 1 ];
  let also = receiver b in
  yes "cancel" (Hand.cancel cancelled);
  Broadcast.close t;
  yes "closed" (Broadcast.is_closed t);
  raises "send" Broadcast.Closed (fun () -> Broadcast.send t 2);
  Broadcast.close t;
  Hand.settle ();
  int "it was served" 1 (Hand.result waits);
  raises "cancelled" Hand.Cancelled (fun () -> Hand.result cancelled);
  raises "closed" Broadcast.Closed (fun () -> Hand.result also);
  waiting b 0;
  int "the value that was sent before" 1 (Broadcast.receive a);
  let ended s =
    raises "try_receive" Broadcast.Closed (fun () -> Broadcast.try_receive s);
    raises "receive" Broadcast.Closed (fun () -> Broadcast.receive s);
    raises "sync" Broadcast.Closed (fun () ->
        Event.select [ Event.never; Broadcast.receive_evt s ])
  in
  List.iter ended [ a; b; Broadcast.subscribe t ]

let all_cancelled () =
  let t = Broadcast.create () in
  let s = Broadcast.subscribe t in
  List.iter Hand.unwind (List.init 3 (fun _ -> receiver s));
  let last = receiver s in
  Broadcast.send t 1;
  Hand.settle ();
  int "announced again" 1 (Hand.result last);
  Hand.unwind (receiver s);
  Broadcast.send t 2;
  ints "the value stays" [ 2 ] (rest s);
  Hand.unwind (receiver s);
  Broadcast.close t;
  ints "the end" [ -1 ] (rest s)

(* --- A limit ---------------------------------------------------------------- *)

let keeps n = Broadcast.create ~limit:(Drop_oldest n) ()

let lagged what n f =
  raises (Printf.sprintf "%s: %d missed" what n) (Broadcast.Lagged n) f

(* A subscription counts all missed values when it reads. *)
let told_when_it_looks () =
  let t = keeps 1 in
  let s = Broadcast.subscribe t in
  List.iter (Broadcast.send t) [ 1; 2; 3 ];
  lagged "receive" 2 (fun () -> Broadcast.receive s);
  List.iter (Broadcast.send t) [ 4; 5 ];
  lagged "nothing was received in between" 2 (fun () -> Broadcast.receive s);
  int "the last one" 5 (Broadcast.receive s)

let waiters_miss_nothing () =
  let t = keeps 1 in
  let s = Broadcast.subscribe t in
  let tasks = List.init 3 (fun _ -> receiver s) in
  List.iter (Broadcast.send t) [ 1; 2; 3; 4; 5 ];
  Hand.settle ();
  ints "in order" [ 1; 2; 3 ] (List.map Hand.result tasks);
  lagged "then no task waited" 1 (fun () -> Broadcast.receive s)

let to_the_end () =
  let t = keeps 2 in
  let s = Broadcast.subscribe t in
  Broadcast.send_seq t (Seq.init 10 Fun.id);
  Broadcast.close t;
  let seen = ref [] in
  let see v = seen := v :: !seen in
  lagged "iter" 8 (fun () -> Broadcast.iter see s);
  Broadcast.iter see s;
  ints "the rest" [ 9; 8 ] !seen;
  raises "the end" Broadcast.Closed (fun () -> Broadcast.receive s);
  let s = Broadcast.subscribe t in
  raises "a late one" Broadcast.Closed (fun () -> Broadcast.receive s)

let limits () =
  raises "no value"
    (Invalid_argument
       "Broadcast.create: the limit is Drop_oldest 0, but must be at least 1")
    (fun () -> keeps 0);
  raises "no place"
    (Invalid_argument
       "Broadcast.create: the limit is Wait 0, but must be at least 1")
    (fun () -> Broadcast.create ~limit:(Wait 0) ())

(* --- Senders that wait -------------------------------------------------------- *)

let holds n = Broadcast.create ~limit:(Wait n) ()
let sender t v = Hand.start (fun () -> Broadcast.send t v)

let nobody_listens () =
  let t = holds 1 in
  Broadcast.send_seq t (Seq.init 10 Fun.id);
  let s = Broadcast.subscribe t in
  yes "room" (Broadcast.try_send t 10);
  no "none" (Broadcast.try_send t 11);
  ints "from then on" [ 10 ] (rest s)

let ends_without_limit () =
  let ended t =
    let s = Broadcast.subscribe t and other = Broadcast.subscribe t in
    Broadcast.send t 1;
    let left = Broadcast.subscribe t in
    let task = receiver left in
    Broadcast.unsubscribe s;
    Broadcast.unsubscribe left;
    Broadcast.send t 2;
    Hand.settle ();
    raises "it waited" Broadcast.Closed (fun () -> Hand.result task);
    raises "ended" Broadcast.Closed (fun () -> Broadcast.try_receive s);
    ints "the other" [ 1; 2 ] (rest other)
  in
  ended (Broadcast.create ());
  ended (keeps 2)

let brackets () =
  let t = holds 1 in
  let kept = ref None in
  let in_it s =
    kept := Some s;
    Broadcast.send t 1
  in
  Broadcast.with_subscription t in_it;
  yes "ended" (Broadcast.next (Option.get !kept) = None);
  raises "the exception" Exit (fun () ->
      Broadcast.with_subscription t (fun s ->
          in_it s;
          raise Exit));
  Broadcast.send_seq t (Seq.init 10 Fun.id)

(* A signal handler may close while a waiting sender is resumed. Here, the sender's resumer
   does it. *)
let closed_while_moving () =
  let t = holds 1 in
  let slow = Broadcast.subscribe t and fast = Broadcast.subscribe t in
  Broadcast.send t 1;
  int "fast" 1 (Broadcast.receive fast);
  let first = receiver fast in
  let second = receiver fast in
  let suspend (type a) (block : a Tools.Suspend.resumer -> a option) _ =
    let close (_ : _ result) =
      Broadcast.close t;
      true
    in
    yes "it waits" (Option.is_none (block close))
  in
  Handled.until_wait { suspend } (fun () -> Broadcast.send t 2);
  let next = sender t 3 in
  int "slow" 1 (Broadcast.receive slow);
  Hand.settle ();
  raises "the next sender" Broadcast.Closed (fun () -> Hand.result next);
  int "first" 2 (Hand.result first);
  raises "second" Broadcast.Closed (fun () -> Hand.result second);
  ints "slow, the end" [ 2; -1 ] (rest slow)

(* --- Memory where values are dropped ------------------------------------------ *)

(* Of two subscriptions, only one is read. *)
let slow_subscription () =
  let t = keeps 10 in
  let s = Broadcast.subscribe t and slow = Broadcast.subscribe t in
  let send i = Broadcast.send t (String.make 80 'x', i) in
  for i = 1 to 100 do
    send i
  done;
  lagged "the other one" 90 (fun () -> Broadcast.drain s);
  int "then it reads" 10 (List.length (Broadcast.drain s));
  let before = words (t, s, slow) in
  for i = 101 to 100_000 do
    send i;
    int "it misses nothing" i (snd (Broadcast.receive s))
  done;
  int "words" before (words (t, s, slow));
  lagged "the slow one" 99_990 (fun () -> Broadcast.receive slow);
  int "what is left" 10 (List.length (Broadcast.drain slow))

(* --- Memory --------------------------------------------------------------- *)

(* No task sends, and the receivers give up. They and their subscriptions must not be kept. *)
let given_up () =
  let t = Broadcast.create () in
  let stays = Broadcast.subscribe t in
  let task = receiver stays in
  let before = words t in
  for _ = 1 to 10_000 do
    Hand.unwind (receiver (Broadcast.subscribe t))
  done;
  yes "one by one: words" (words t <= before + 100);
  let tasks = List.init 10_000 (fun _ -> receiver (Broadcast.subscribe t)) in
  List.iter (fun task -> yes "cancel" (Hand.cancel task)) tasks;
  Hand.settle ();
  yes "at once: words" (words t <= before + 100);
  Broadcast.send t 1;
  Hand.settle ();
  int "one stayed" 1 (Hand.result task)

(* Counts how many of 100 values that [f] sends are alive. *)
let kept f =
  let t = Broadcast.create () in
  let s = Broadcast.subscribe t in
  let weak = Weak.create 100 in
  let[@inline never] send i =
    let v = ref i in
    Weak.set weak i (Some v);
    Broadcast.send t v
  in
  f t s send;
  Gc.full_major ();
  let alive = ref 0 in
  for i = 0 to 99 do
    if Weak.check weak i then incr alive
  done;
  ignore (Sys.opaque_identity (t, s));
  !alive

let all send =
  for i = 0 to 99 do
    send i
  done

let what_is_kept () =
  let receive s = ignore (Broadcast.receive s : int ref) in
  int "for a subscription" 100 (kept (fun _ _ send -> all send));
  int "the values that it has not received" 40
    (kept (fun _ s send ->
         all send;
         for _ = 1 to 60 do
           receive s
         done));
  (* Even the last value must not be kept, although it was in the link that the subscription
     has passed. *)
  int "received" 0
    (kept (fun _ s send ->
         all send;
         for _ = 1 to 100 do
           receive s
         done));
  int "one subscription too many, not referenced" 0
    (kept (fun t s send ->
         ignore (Broadcast.subscribe t : int ref Broadcast.subscription);
         all send;
         for _ = 1 to 100 do
           receive s
         done));
  int "handed over" 0
    (kept (fun _ s send ->
         let tasks =
           List.init 100 (fun _ -> Hand.start (fun () -> receive s))
         in
         all send;
         Hand.settle ();
         List.iter Hand.result tasks))

let subscription_is_collected () =
  let t = Broadcast.create () and gone = ref 0 in
  let[@inline never] subscribe () =
    let s = Broadcast.subscribe t in
    Gc.finalise (fun _ -> incr gone) s;
    Broadcast.send t 1;
    int "receive" 1 (Broadcast.receive s);
    Hand.unwind (receiver s)
  in
  for _ = 1 to 10 do
    subscribe ()
  done;
  Broadcast.send t 2;
  Gc.full_major ();
  Gc.full_major ();
  int "collected" 10 !gone;
  ignore (Sys.opaque_identity t)

let in_a_finaliser () =
  let t = Broadcast.create () in
  let s = Broadcast.subscribe t in
  let task = receiver s in
  for i = 1 to 10 do
    Gc.finalise (fun r -> Broadcast.send t !r) (ref i)
  done;
  Gc.full_major ();
  Gc.full_major ();
  Hand.settle ();
  let first = Hand.result task in
  ints "all" (List.init 10 succ) (List.sort compare (first :: rest s))

let () =
  run "Broadcast"
    [
      ( "operations",
        [
          test "every subscriber sees all, in order" everyone_sees_all;
          test "waiters are woken in order" waiting_in_order;
          test "all of a subscription are cancelled" all_cancelled;
          test "close: in each state" close;
          test "send in a finaliser" in_a_finaliser;
        ] );
      ( "a limit",
        [
          test "counts all missed values at once" told_when_it_looks;
          test "tasks that wait" waiters_miss_nothing;
          test "to the end" to_the_end;
          test "too small" limits;
          test "a slow subscription keeps no more" slow_subscription;
        ] );
      ( "senders that wait",
        [
          test "without subscriptions" nobody_listens;
          test "so it does without a limit" ends_without_limit;
          test "with_subscription" brackets;
          test "close while a sender is resumed" closed_while_moving;
        ] );
      ( "memory",
        [
          test "10,000 subscriptions that were given up" given_up;
          test "values that will not be received" what_is_kept;
          test "a subscription is collected" subscription_is_collected;
        ] );
    ]
