open Actor

let sent = ref []

let send name t v =
  make name @@ fun () ->
  Broadcast.send t v;
  sent := v :: !sent;
  "ok"

(* What each subscription has received. *)
let received : (int Broadcast.subscription * int list ref) list ref = ref []
let missed : (int Broadcast.subscription * int ref) list ref = ref []

let got s v =
  let values = List.assq s !received in
  values := v :: !values;
  string_of_int v

(* [f ()], or how many values were missed. *)
let or_missed s f =
  match f () with
  | result -> result
  | exception Broadcast.Lagged n ->
      let missed = List.assq s !missed in
      missed := !missed + n;
      Printf.sprintf "missed%d" n

let receive name s =
  make name (fun () -> or_missed s (fun () -> got s (Broadcast.receive s)))

let sync_receive name s =
  make name (fun () -> got s (Event.sync (Broadcast.receive_evt s)))

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

let close t = Do (fun () -> Broadcast.close t)

let subscribe t =
  let s = Broadcast.subscribe t in
  received := (s, ref []) :: !received;
  missed := (s, ref 0) :: !missed;
  s

(* The values that are left in a list. *)
let rec left link =
  match Atomic.get link with
  | Broadcast.Node { value; link } -> value :: left link
  | End _ | Waited _ | Sealed | Dropped _ -> []

let rec announced link =
  match Atomic.get link with
  | Broadcast.Node { link; _ } -> announced link
  | Waited { notices; _ } ->
      let announced = ref [] in
      let add (n : _ Waiter.t) =
        if Waiter.is_live n then announced := n.arg :: !announced
      in
      Waiters.iter add notices;
      !announced
  | End _ | Sealed | Dropped _ -> []

let show vs = "[" ^ String.concat " " (List.map string_of_int vs) ^ "]"
let sorted = List.sort Int.compare

(* All that was sent was received by or is left for each subscription, and all see
   one order. The subscriptions through which tasks wait are announced, once. *)
let at_rest link actors () =
  let all = left link in
  if sorted all <> sorted !sent then failwith "what was sent is not there";
  let announced = announced link in
  let subscription (s, values) =
    let link, waiting =
      match Atomic.get s with
      | Broadcast.Reading link -> (link, 0)
      | Waiting { link; waiters; _ } ->
          if left link <> [] then failwith "they wait for what is there";
          (link, live waiters)
      | Serving _ -> failwith "serving at rest"
    in
    if Broadcast.waiters s <> waiting then failwith "waiters: miscounted";
    let announced = List.length (List.filter (( == ) s) announced) in
    if announced <> Int.min waiting 1 then
      failwith "announced twice, or not at all, or not forgotten";
    let left = left link in
    let rec passed n vs = if n = 0 then [] else passed_on n vs
    and passed_on n = function
      | v :: vs -> v :: passed (n - 1) vs
      | [] -> failwith "received more than was sent"
    in
    let passed = passed (List.length all - List.length left) all in
    if sorted !values <> sorted passed then
      failwith ("lost, doubled or out of order: " ^ describe actors);
    (waiting, show left)
  in
  let states = List.rev_map subscription !received in
  all_queued actors (List.map fst states);
  String.concat " " (describe actors :: List.map snd states)

(* The same where values are dropped: they are counted, and no subscription holds one. *)
let at_rest_limited t actors () =
  let { Broadcast.capacity; oldest } = Option.get t.Broadcast.limited in
  let { Broadcast.link; index } = Atomic.get oldest in
  let kept = left link and sent = List.length !sent in
  if List.length kept <> Int.min capacity sent then
    failwith "too few are kept, or too many";
  if index + List.length kept <> sent then failwith "dropped and not counted";
  let announced = announced (Atomic.get t.last) in
  let subscription (s, values) =
    let link, waiting =
      match Atomic.get s with
      | Broadcast.Reading link -> (link, 0)
      | Waiting { link; waiters; _ } ->
          if Broadcast.has_more link then failwith "they wait for what is there";
          (link, live waiters)
      | Serving _ -> failwith "serving at rest"
    in
    let announced = List.length (List.filter (( == ) s) announced) in
    if announced <> Int.min waiting 1 then
      failwith "announced twice, or not at all, or not forgotten";
    let missed = !(List.assq s !missed) in
    let behind =
      match Atomic.get link with
      | Broadcast.Dropped d -> sent - d.index
      | Node _ | End _ | Waited _ | Sealed ->
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

let create ?limit () =
  sent := [];
  received := [];
  missed := [];
  Broadcast.create ?limit ()

let check ?keeps name make expect =
  Model.check name ~expect @@ fun () ->
  let t =
    create ?limit:(Option.map (fun n -> Broadcast.Drop_oldest n) keeps) ()
  in
  let link = Atomic.get t.last in
  let first, processes = make t in
  let processes, actors = start first processes in
  let at_rest =
    if Option.is_some keeps then at_rest_limited t else at_rest link
  in
  (processes, at_rest actors)

let () =
  Cancellations.check "receive, through one subscription" ~three:false
    [
      ("", fun _ name (_, _, s) -> receive name s);
      (", an event", fun _ name (_, _, s) -> sync_receive name s);
    ]
    ~create:(fun () ->
      let t = create () in
      (t, Atomic.get t.last, subscribe t))
    ~serve:(fun (t, _, _) -> work (send "" t 1))
    ~served:"1"
    ~rest:(function [] -> " [1]" | _ -> " []")
    ~at_rest:(fun (_, link, _) -> at_rest link);
  check "two wait through one subscription, two send"
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s and q = receive "q" s in
      ([ r; q ], [ Run (send "a" t 1); Run (send "b" t 2) ]))
    [ "r=1 q=2 a=ok b=ok []"; "r=2 q=1 a=ok b=ok []" ];
  check "two wait through one subscription, the first is cancelled, two send"
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s and q = receive "q" s in
      ([ r; q ], [ Run (send "a" t 1); Run (send "b" t 2); Cancel r ]))
    [
      "r=1 q=2 a=ok b=ok []";
      "r=2 q=1 a=ok b=ok []";
      "r=cancelled q=1 a=ok b=ok [2]";
      "r=cancelled q=2 a=ok b=ok [1]";
    ];
  check "one waits, another comes through the same subscription"
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s in
      ([ r ], [ Run (send "a" t 1); Run (receive "q" s) ]))
    [ "r=1 a=ok q=waits []" ];
  check "one waits and is cancelled, another tries"
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s in
      ([ r ], [ Run (send "a" t 1); Run (try_receive "q" s); Cancel r ]))
    [
      "r=1 a=ok q=none []";
      "r=cancelled a=ok q=1 []";
      "r=cancelled a=ok q=none [1]";
    ];
  check "one receives twice, one sends twice"
    (fun t ->
      let s = subscribe t in
      ([], [ Run (receive_twice "r" s); Run (send_twice "a" t 1 2) ]))
    [ "r=1,2 a=ok []" ];
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
  Model.sometimes (fun () ->
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
        ]);
  check "through four nobody waits any more, through another one comes"
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
  check "receive, send, close"
    (fun t ->
      let s = subscribe t in
      ([], [ Run (receive "r" s); Run (send "a" t 1); close t ]))
    [ "r=1 a=ok []"; "r=closed a=closed []" ];
  check "two wait, send, close"
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s and q = receive "q" s in
      ([ r; q ], [ Run (send "a" t 1); close t ]))
    [ "r=1 q=closed a=ok []"; "r=closed q=closed a=closed []" ];
  check "one waits and is cancelled, send, close"
    (fun t ->
      let s = subscribe t in
      let r = receive "r" s in
      ([ r ], [ Run (send "a" t 1); close t; Cancel r ]))
    [
      "r=1 a=ok []";
      "r=cancelled a=closed []";
      "r=cancelled a=ok [1]";
      "r=closed a=closed []";
    ];
  check "two send past the limit, one is slow" ~keeps:1
    (fun t ->
      let s = subscribe t in
      work (send "" t 1);
      ([], [ Run (send "a" t 2); Run (send "b" t 3); Run (receive "r" s) ]))
    [
      "a=ok b=ok r=1 2 behind";
      "a=ok b=ok r=missed1 2 behind";
      "a=ok b=ok r=missed2 1 behind";
    ];
  check "one sends past the limit, one is slow" ~keeps:1
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
  check "one sends past the limit, one drains, one tries" ~keeps:1
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
  check "two wait, two send past the limit" ~keeps:1
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
  check "three wait, two send past the limit" ~keeps:1
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
  check "one waits and is cancelled, two send past the limit" ~keeps:1
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
  check "one comes to wait, one sends past the limit" ~keeps:1
    (fun t ->
      let s = subscribe t in
      ([], [ Run (receive "r" s); Run (send_twice "a" t 1 2) ]))
    [ "r=1 a=ok 1 behind"; "r=missed1 a=ok 1 behind" ];
  check "one sends past the limit, one closes, one is slow" ~keeps:1
    (fun t ->
      let s = subscribe t in
      work (send "" t 1);
      ([], [ Run (receive "r" s); Run (send "a" t 2); close t ]))
    [ "r=1 a=closed 0 behind"; "r=1 a=ok 1 behind"; "r=missed1 a=ok 1 behind" ];
  Model.finish ()
