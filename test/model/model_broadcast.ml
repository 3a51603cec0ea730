(* Broadcasts. The scenarios below are those of values that come back, of several subscriptions,
   of those that begin and end, and of limits. *)

open Actor

let sent = ref []

let send name t v =
  make name @@ fun () ->
  Broadcast.send t v;
  sent := v :: !sent;
  "ok"

(* The values that each subscription has received. *)
let received : (int Broadcast.subscription * int list ref) list ref = ref []
let missed : (int Broadcast.subscription * int ref) list ref = ref []

let got s v =
  let values = List.assq s !received in
  values := v :: !values;
  string_of_int v

(* The result of [f ()], or how many values were missed. *)
let or_missed s f =
  match f () with
  | result -> result
  | exception Broadcast.Lagged n ->
      let missed = List.assq s !missed in
      missed := !missed + n;
      Printf.sprintf "missed%d" n

let receive name s =
  make name (fun () -> or_missed s (fun () -> got s (Broadcast.receive s)))

let receive_twice name s =
  let receive () = or_missed s (fun () -> got s (Broadcast.receive s)) in
  make name @@ fun () ->
  let first = receive () in
  first ^ "," ^ receive ()

let send_twice name t v v' =
  make name @@ fun () ->
  Broadcast.send t v;
  sent := v :: !sent;
  Broadcast.send t v';
  sent := v' :: !sent;
  "ok"

let try_receive name s =
  make name @@ fun () ->
  match Broadcast.try_receive s with None -> "none" | Some v -> got s v

let drain name s =
  make name @@ fun () ->
  or_missed s (fun () ->
      String.concat "" (List.map (got s) (Broadcast.drain s)))

let send_event name t v =
  make name @@ fun () ->
  Event.sync (Broadcast.send_evt t v);
  sent := v :: !sent;
  "ok"

let try_send name t v =
  make name @@ fun () ->
  if Broadcast.try_send t v then begin
    sent := v :: !sent;
    "ok"
  end
  else "no"

(* A task that has received [v] was cancelled before it could continue. *)
let back name s v =
  make name @@ fun () ->
  if Broadcast.undo_receive s s v then "back" else got s v

let back_then name s v f =
  make name @@ fun () ->
  ignore (Broadcast.undo_receive s s v : bool);
  f ();
  "ok"

(* Sends [vs]. Tasks have received all of them through [s], but not yet continued. *)
let send_to_hand t s vs =
  let pass v =
    Broadcast.send t v;
    sent := v :: !sent;
    ignore (Broadcast.receive s : int)
  in
  List.iter pass vs

let unsubscribe s = Do (fun () -> Broadcast.unsubscribe s)
let close t = Do (fun () -> Broadcast.close t)

let subscribe t =
  let s = Broadcast.subscribe t in
  received := (s, ref []) :: !received;
  missed := (s, ref 0) :: !missed;
  s

(* The number of values that take a place. *)
let rec places link =
  match Atomic.get link with
  | Broadcast_state.Node { link; _ } -> places link
  | Counted { link; left; _ } ->
      places link + if Atomic.get left > 1000 then 0 else 1
  | End _ | Waited _ | Held _ | Sealed | Dropped _ -> 0

(* The values that remain in a list. *)
let rec left link =
  match Atomic.get link with
  | Broadcast_state.Node { value; link } -> value :: left link
  | Counted { value; link; _ } -> value :: left link
  | End _ | Waited _ | Held _ | Sealed | Dropped _ -> []

let rec announced link =
  match Atomic.get link with
  | Broadcast_state.Node { link; _ } | Counted { link; _ } -> announced link
  | Waited { notices; _ } | Held { notices; _ } ->
      let announced = ref [] in
      let add (n : _ Waiter.t) =
        if Waiter.is_live n then announced := n.arg :: !announced
      in
      Waiters.iter add notices;
      !announced
  | End _ | Sealed | Dropped _ -> []

let show vs = "[" ^ String.concat " " (List.map string_of_int vs) ^ "]"
let sorted = List.sort Int.compare

(* The next value of a subscription at rest, and how many tasks wait through it. If one waits,
   the subscription is announced exactly once. *)
let subscription_at_rest ~announced s =
  let link, waiting =
    match Atomic.get s with
    | Broadcast_state.Reading link -> (link, 0)
    | Waiting { link; waiters; _ } ->
        if Broadcast_steps.has_more link then
          failwith "they wait, but a value is there";
        (link, live waiters)
    | Serving _ -> failwith "serving at rest"
  in
  let announced = List.length (List.filter (( == ) s) announced) in
  if announced <> Int.min waiting 1 then
    failwith "announced twice, or not at all, or not forgotten";
  (link, waiting)

(* Each sent value was received by each subscription or remains for it, and all subscriptions
   see the same order. *)
let at_rest ?(in_order = true) link actors () =
  let all = left link in
  if sorted all <> sorted !sent then failwith "what was sent is not there";
  let announced = announced link in
  let subscription (s, values) =
    let link, waiting = subscription_at_rest ~announced s in
    if Broadcast.waiters s <> waiting then failwith "waiters: miscounted";
    let left = left link in
    let rec passed n vs = if n = 0 then [] else passed_on n vs
    and passed_on n = function
      | v :: vs -> v :: passed (n - 1) vs
      | [] -> failwith "received more than was sent"
    in
    let passed = passed (List.length all - List.length left) all in
    if
      if in_order then sorted !values <> sorted passed
      else sorted (!values @ left) <> sorted all
    then failwith ("lost, doubled or out of order: " ^ describe actors);
    (waiting, show left)
  in
  let states = List.rev_map subscription !received in
  all_queued actors (List.map fst states);
  String.concat " " (describe actors :: List.map snd states)

(* The same for a limit that drops values. Dropped values are counted, and no subscription
   keeps one alive. *)
let at_rest_limited t actors () =
  let capacity, oldest =
    match t.Broadcast_state.limited with
    | Some (Dropping { capacity; oldest }) -> (capacity, oldest)
    | Some (Holding _) | None -> assert false
  in
  let { Broadcast_state.link; index } = Atomic.get oldest in
  let kept = left link and sent = List.length !sent in
  if List.length kept <> Int.min capacity sent then
    failwith "too few are kept, or too many";
  if index + List.length kept <> sent then failwith "dropped and not counted";
  let announced = announced (Atomic.get t.Broadcast_state.last) in
  let subscription (s, values) =
    let link, waiting = subscription_at_rest ~announced s in
    let missed = !(List.assq s !missed) in
    let behind =
      match Atomic.get link with
      | Broadcast_state.Dropped d -> sent - d.index
      | Node _ | Counted _ | End _ | Waited _ | Held _ | Sealed ->
          let behind = List.length (left link) in
          if behind > List.length kept then failwith "it keeps what is dropped";
          behind
    in
    if List.length !values + missed + behind <> sent then
      failwith ("lost, doubled or miscounted: " ^ describe actors);
    (waiting, Printf.sprintf "%d behind" behind)
  in
  let states = List.rev_map subscription !received in
  all_queued actors (List.map fst states);
  String.concat " " (describe actors :: List.map snd states)

(* The same for a limit that holds senders back. Values are received in order, and the room
   left is that of the slowest subscription. *)
let at_rest_held t capacity actors () =
  let announced = announced (Atomic.get t.Broadcast_state.last) in
  let subscription (s, values) =
    let link, waiting = subscription_at_rest ~announced s in
    let rec is_sealed link =
      match Atomic.get link with
      | Broadcast_state.Counted { link; _ } | Node { link; _ } -> is_sealed link
      | Sealed -> true
      | _ -> false
    in
    let ended = is_sealed link && not (Broadcast.is_closed t) in
    let left = left link in
    if (not ended) && List.length left + List.length !values > List.length !sent
    then failwith ("doubled: " ^ describe actors);
    (waiting, (places link, if ended then "ended" else show left))
  in
  let states = List.rev_map subscription !received in
  let behind = List.fold_left (fun n (_, (m, _)) -> Int.max n m) 0 states in
  let senders =
    match Atomic.get (Broadcast.end_of t) with
    | Sealed -> 0
    | Held { free; subscriptions; senders; phase; _ } ->
        if phase <> Resting then failwith "moving at rest";
        if free <> capacity - behind then
          failwith
            (Printf.sprintf "%d places are left where the slowest is %d behind"
               free behind);
        let ended (_, (_, s)) = s = "ended" in
        let ended = List.length (List.filter ended states) in
        if subscriptions <> List.length states - ended then
          failwith (Printf.sprintf "%d subscriptions" subscriptions);
        live senders
    | _ -> assert false
  in
  all_queued actors (senders :: List.map fst states);
  String.concat " " (describe actors :: List.map (fun (_, (_, s)) -> s) states)

let create ?limit () =
  sent := [];
  received := [];
  missed := [];
  Broadcast.create ?limit ()

let check ?limit ?in_order name make expect =
  Model.check name ~expect @@ fun () ->
  let t = create ?limit () in
  let link = Atomic.get t.last in
  let first, processes = make t in
  let processes, actors = start first processes in
  let at_rest =
    match limit with
    | Some (Drop_oldest _) -> at_rest_limited t
    | Some (Wait n) -> at_rest_held t n
    | None -> at_rest ?in_order link
  in
  (processes, at_rest actors)

let values_come_back () =
  let check ?limit ?in_order name in_hand make =
    check ?limit ?in_order name (fun t ->
        let s = subscribe t in
        send_to_hand t s in_hand;
        make t s)
  in
  let both name in_hand make expect =
    check name ~in_order:false in_hand make expect;
    check ~limit:(Wait 1) (name ^ ", a limit") in_hand make expect
  in
  both "a value comes back, one receives" [ 1 ]
    (fun _ s -> ([], [ Run (back "x" s 1); Run (receive "r" s) ]))
    [ "x=back r=1 []" ];
  both "a value comes back, two receive" [ 1 ]
    (fun _ s ->
      ([], [ Run (back "x" s 1); Run (receive "r" s); Run (try_receive "q" s) ]))
    [ "x=back r=1 q=none []"; "x=back r=waits q=1 []" ];
  both "a value comes back, one waits to receive and is cancelled" [ 1 ]
    (fun _ s ->
      let r = receive "r" s in
      ([ r ], [ Run (back "x" s 1); Cancel r ]))
    [ "r=1 x=back []"; "r=cancelled x=back [1]" ];
  both "a value comes back, two wait to receive, the first is cancelled" [ 1 ]
    (fun _ s ->
      let r = receive "r" s in
      ([ r; receive "q" s ], [ Run (back "x" s 1); Cancel r ]))
    [ "r=1 q=waits x=back []"; "r=cancelled q=1 x=back []" ];
  both "two values come back, one waits to receive" [ 1; 2 ]
    (fun _ s -> ([ receive "r" s ], [ Run (back "x" s 1); Run (back "y" s 2) ]))
    [ "r=1 x=back y=back [2]"; "r=2 x=back y=back [1]" ];
  both "a value comes back, one is sent, one waits to receive" [ 1 ]
    (fun t s -> ([ receive "r" s ], [ Run (back "x" s 1); Run (send "a" t 2) ]))
    [ "r=1 x=back a=ok [2]"; "r=2 x=back a=ok [1]" ];
  both "a value comes back, then one is sent, one drains" [ 1 ]
    (fun t s ->
      let send () = work (send "" t 2) in
      ([], [ Run (back_then "x" s 1 send); Run (drain "r" s) ]))
    [ "x=ok r= [1 2]"; "x=ok r=1 [2]"; "x=ok r=12 []" ];
  both "a value comes back, then one is sent, one waits twice" [ 1 ]
    (fun t s ->
      let send () = work (send "" t 2) in
      ([ receive_twice "r" s ], [ Run (back_then "x" s 1 send) ]))
    [ "r=1,2 x=ok []" ];
  check ~limit:(Wait 1) "a value comes back, then unsubscribe, one is sent"
    [ 1 ]
    (fun t s ->
      let unsubscribe () = Broadcast.unsubscribe s in
      ([], [ Run (send "a" t 2); Run (back_then "x" s 1 unsubscribe) ]))
    [ "a=ok x=ok ended" ];
  check ~limit:(Wait 1)
    "a value comes back, then unsubscribe, one waits to send" [ 1 ]
    (fun t s ->
      let unsubscribe () = Broadcast.unsubscribe s in
      work (send "" t 2);
      ([ send "a" t 3 ], [ Run (back_then "x" s 1 unsubscribe) ]))
    [ "a=ok x=ok ended" ];
  check ~limit:(Wait 1) "a value comes back, unsubscribe, one waits to send"
    [ 1 ]
    (fun t s ->
      work (send "" t 2);
      ([ send "a" t 3 ], [ Run (back "x" s 1); unsubscribe s ]))
    [ "a=ok x=back ended" ];
  both "a value comes back, then close, one receives" [ 1 ]
    (fun t s ->
      let close () = Broadcast.close t in
      ([], [ Run (back_then "x" s 1 close); Run (receive "r" s) ]))
    [ "x=ok r=1 []" ];
  (* The value can still be received, but a task may have been told before that there is none. *)
  both "a value comes back, close, one waits to receive" [ 1 ]
    (fun t s -> ([ receive "r" s ], [ Run (back "x" s 1); close t ]))
    [ "r=1 x=back []"; "r=closed x=back [1]" ]

module Described_broadcast = Described.Make (Broadcasts.Unlimited)

let () =
  let at_rest { Broadcasts.Unlimited.broadcast; subscriptions; _ } =
    let announced = announced (Atomic.get broadcast.last) in
    Array.iter
      (fun s -> ignore (subscription_at_rest ~announced s))
      subscriptions
  in
  Described_broadcast.some ~at_rest 30;
  values_come_back ();
  check "through each of two subscriptions one waits, one is cancelled"
    (fun t ->
      let s = subscribe t in
      let s' = subscribe t in
      let r = receive "r" s and q = receive "q" s' in
      ([ r; q ], [ Run (send "a" t 1); Cancel r ]))
    [ "r=1 q=1 a=ok [] []"; "r=cancelled q=1 a=ok [1] []" ];
  check "two subscriptions, two send"
    (fun t ->
      let s = subscribe t in
      let s' = subscribe t in
      let r = receive "r" s and q = receive "q" s' in
      ([ r; q ], [ Run (send "a" t 1); Run (send "b" t 2) ]))
    [ "r=1 q=1 a=ok b=ok [2] [2]"; "r=2 q=2 a=ok b=ok [1] [1]" ];
  check "one comes and is cancelled, through another subscription one waits"
    (fun t ->
      let s = subscribe t in
      let s' = subscribe t in
      let r = receive "r" s and q = receive "q" s' in
      ([ q ], [ Run r; Run (send "a" t 1); Cancel r ]))
    [ "q=1 r=1 a=ok [] []"; "q=1 r=cancelled a=ok [1] []" ];
  check "one drains, another tries, a third sends"
    (fun t ->
      let s = subscribe t in
      Broadcast.send t 1;
      sent := [ 1 ];
      ([], [ Run (drain "d" s); Run (try_receive "r" s); Run (send "a" t 2) ]))
    [
      "d= r=1 a=ok [2]";
      "d=1 r=2 a=ok []";
      "d=1 r=none a=ok [2]";
      "d=12 r=none a=ok []";
      "d=2 r=1 a=ok []";
    ];
  check "one drains, another comes to wait and is cancelled"
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s in
      ([], [ Run (drain "d" s); Run r; Run (send "a" t 1); Cancel r ]))
    [
      "d= r=1 a=ok []";
      "d= r=cancelled a=ok [1]";
      "d=1 r=cancelled a=ok []";
      "d=1 r=waits a=ok []";
    ];
  check
    "four subscriptions have lost their waiters, a task comes through one of \
     them"
    (fun t ->
      let idle =
        List.init 4 (fun _ ->
            let s = subscribe t in
            let r = receive "r" s in
            run r;
            Model.cancel r.task;
            s)
      in
      let q = receive "q" (List.hd idle) and r = receive "r" (subscribe t) in
      ([], [ Run q; Run r; Run (send "a" t 1) ]))
    [ "q=1 r=1 a=ok [] [1] [1] [1] []" ];
  check "the same, nothing is sent"
    (fun t ->
      let idle =
        List.init 4 (fun _ ->
            let s = subscribe t in
            let r = receive "r" s in
            run r;
            Model.cancel r.task;
            s)
      in
      let q = receive "q" (List.hd idle) and r = receive "r" (subscribe t) in
      ([], [ Run q; Run r; Cancel q ]))
    [ "q=cancelled r=waits [] [] [] [] []"; "q=waits r=waits [] [] [] [] []" ];
  check "two send past the limit, one is slow" ~limit:(Drop_oldest 1)
    (fun t ->
      let s = subscribe t in
      work (send "" t 1);
      ([], [ Run (send "a" t 2); Run (send "b" t 3); Run (receive "r" s) ]))
    [
      "a=ok b=ok r=1 2 behind";
      "a=ok b=ok r=missed1 2 behind";
      "a=ok b=ok r=missed2 1 behind";
    ];
  check "one sends past the limit, one is slow" ~limit:(Drop_oldest 1)
    (fun t ->
      let s = subscribe t in
      work (send "" t 1);
      ([], [ Run (send_twice "a" t 2 3); Run (receive_twice "r" s) ]))
    [
      "a=ok r=1,2 1 behind";
      "a=ok r=1,missed1 1 behind";
      "a=ok r=missed1,2 1 behind";
      "a=ok r=missed1,missed1 1 behind";
      "a=ok r=missed2,3 0 behind";
    ];
  check "one sends past the limit, one drains, one tries" ~limit:(Drop_oldest 1)
    (fun t ->
      let s = subscribe t in
      work (send "" t 1);
      ([], [ Run (send "a" t 2); Run (drain "d" s); Run (receive "r" s) ]))
    [
      "a=ok d= r=1 1 behind";
      "a=ok d= r=missed1 1 behind";
      "a=ok d=1 r=2 0 behind";
      "a=ok d=12 r=waits 0 behind";
      "a=ok d=2 r=1 0 behind";
      "a=ok d=2 r=missed1 0 behind";
      "a=ok d=missed1 r=2 0 behind";
    ];
  check "two wait, two send past the limit" ~limit:(Drop_oldest 1)
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s and q = receive "q" s in
      ([ r; q ], [ Run (send "a" t 1); Run (send_twice "b" t 2 3) ]))
    [
      "r=1 q=2 a=ok b=ok 1 behind";
      "r=1 q=missed1 a=ok b=ok 1 behind";
      "r=2 q=1 a=ok b=ok 1 behind";
      "r=2 q=3 a=ok b=ok 1 behind";
      "r=2 q=missed1 a=ok b=ok 1 behind";
      "r=missed1 q=1 a=ok b=ok 1 behind";
      "r=missed1 q=2 a=ok b=ok 1 behind";
      "r=missed1 q=missed1 a=ok b=ok 1 behind";
      "r=missed2 q=3 a=ok b=ok 0 behind";
    ];
  check "three wait, two send past the limit" ~limit:(Drop_oldest 1)
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s and q = receive "q" s and p = receive "p" s in
      ([ r; q; p ], [ Run (send "a" t 1); Run (send "b" t 2) ]))
    [
      "r=1 q=2 p=waits a=ok b=ok 0 behind";
      "r=2 q=1 p=waits a=ok b=ok 0 behind";
      "r=missed1 q=1 p=waits a=ok b=ok 0 behind";
      "r=missed1 q=2 p=waits a=ok b=ok 0 behind";
    ];
  check "one waits and is cancelled, two send past the limit"
    ~limit:(Drop_oldest 1)
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s in
      ([ r ], [ Run (send "a" t 1); Run (send "b" t 2); Cancel r ]))
    [
      "r=1 a=ok b=ok 1 behind";
      "r=2 a=ok b=ok 1 behind";
      "r=cancelled a=ok b=ok 2 behind";
      "r=missed1 a=ok b=ok 1 behind";
    ];
  check "one comes to wait, one sends past the limit" ~limit:(Drop_oldest 1)
    (fun t ->
      let s = subscribe t in
      ([], [ Run (receive "r" s); Run (send_twice "a" t 1 2) ]))
    [ "r=1 a=ok 1 behind"; "r=missed1 a=ok 1 behind" ];
  check "one sends past the limit, one closes, one is slow"
    ~limit:(Drop_oldest 1)
    (fun t ->
      let s = subscribe t in
      work (send "" t 1);
      ([], [ Run (receive "r" s); Run (send "a" t 2); close t ]))
    [ "r=1 a=closed 0 behind"; "r=1 a=ok 1 behind"; "r=missed1 a=ok 1 behind" ];
  (* --- Senders that wait --- *)
  let held name make expect = check name ~limit:(Wait 1) make expect in
  let full make t =
    let s = subscribe t in
    work (send "" t 1);
    make t s
  in
  held "one waits to send, one receives"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ Run (receive "r" s) ])))
    [ "a=ok r=1 [2]" ];
  held "two wait to send, one receives, the first is cancelled"
    (full (fun t s ->
         let a = send "a" t 2 and b = send "b" t 3 in
         ([ a; b ], [ Run (receive "r" s); Cancel a ])))
    [ "a=cancelled b=ok r=1 [3]"; "a=ok b=waits r=1 [2]" ];
  held "one comes to send, one receives"
    (full (fun t s -> ([], [ Run (send "a" t 2); Run (receive "r" s) ])))
    [ "a=ok r=1 [2]" ];
  held "one waits to send, one comes, one receives"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ Run (send "b" t 3); Run (receive_twice "r" s) ])))
    [ "a=ok b=ok r=1,2 [3]" ];
  held "one waits to send, one tries, one receives"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ Run (try_send "b" t 3); Run (receive_twice "r" s) ])))
    [ "a=ok b=no r=1,2 []"; "a=ok b=ok r=1,2 [3]" ];
  held "two wait to send, one ends"
    (full (fun t s ->
         let a = send "a" t 2 and b = send "b" t 3 in
         ([ a; b ], [ unsubscribe s; Cancel a ])))
    [ "a=cancelled b=ok ended"; "a=ok b=ok ended" ];
  held "one waits to send, one receives, one subscribes"
    (full (fun t s ->
         let a = send "a" t 2 in
         let subscribe () = ignore (subscribe t : int Broadcast.subscription) in
         ([ a ], [ Run (receive "r" s); Do subscribe ])))
    [ "a=ok r=1 [2] [2]"; "a=ok r=1 [2] []" ];
  held "one comes to send, an event, one receives, it is cancelled"
    (full (fun t s ->
         let a = send_event "a" t 2 in
         ([], [ Run a; Run (receive "r" s); Cancel a ])))
    [ "a=cancelled r=1 []"; "a=ok r=1 [2]" ];
  held "two subscriptions receive, one waits to send"
    (fun t ->
      let s = subscribe t in
      let s' = subscribe t in
      work (send "" t 1);
      let a = send "a" t 2 in
      ([ a ], [ Run (receive "r" s); Run (receive "q" s') ]))
    [ "a=ok r=1 q=1 [2] [2]" ];
  held "two receive through one subscription, one waits to send"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ Run (receive "r" s); Run (receive "q" s) ])))
    [ "a=ok r=1 q=2 []"; "a=ok r=2 q=1 []" ];
  held "one ends, one waits to send"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ unsubscribe s ])))
    [ "a=ok ended" ];
  held "one ends, one receives, one waits to send"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ unsubscribe s; Run (receive "r" s) ])))
    [ "a=ok r=1 ended"; "a=ok r=closed ended" ];
  held "one ends, one drains, one waits to send"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ unsubscribe s; Run (drain "d" s) ])))
    [ "a=ok d= ended"; "a=ok d=1 ended" ];
  held "one waits and ends, one sends"
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s in
      ([ r ], [ unsubscribe s; Run (send "a" t 1) ]))
    [ "r=1 a=ok ended"; "r=closed a=ok ended" ];
  held "one waits, ends and is cancelled, one sends"
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s in
      ([ r ], [ unsubscribe s; Run (send "a" t 1); Cancel r ]))
    [ "r=1 a=ok ended"; "r=cancelled a=ok ended"; "r=closed a=ok ended" ];
  held "one ends twice, one sends"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ unsubscribe s; unsubscribe s ])))
    [ "a=ok ended" ];
  held "one subscribes, one sends, one ends"
    (fun t ->
      let s = subscribe t in
      ( [],
        [
          Do (fun () -> ignore (subscribe t : int Broadcast.subscription));
          Run (send "a" t 1);
          unsubscribe s;
        ] ))
    [ "a=ok ended [1]"; "a=ok ended []" ];
  held "two wait to send, one closes"
    (full (fun t _ ->
         let a = send "a" t 2 and b = send "b" t 3 in
         ([ a; b ], [ close t ])))
    [ "a=closed b=closed [1]" ];
  held "one waits to send, one receives, one closes"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ Run (receive "r" s); close t ])))
    [ "a=closed r=1 []"; "a=ok r=1 [2]" ];
  held "one ends, one closes, one waits to send"
    (full (fun t s ->
         let a = send "a" t 2 in
         ([ a ], [ unsubscribe s; close t ])))
    [ "a=closed []"; "a=ok []" ];
  Model.finish ()
