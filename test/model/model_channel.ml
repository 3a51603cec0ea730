open Actor

let sent = ref []
let received = ref []

let send ?(evt = false) name c v =
  make name @@ fun () ->
  if evt then Event.sync (Event.send c v) else Rendezvous.send c v;
  sent := v :: !sent;
  "ok"

let receive ?(evt = false) name c =
  make name @@ fun () ->
  let v = if evt then Event.sync (Event.receive c) else Rendezvous.receive c in
  received := v :: !received;
  string_of_int v

let try_send name c v =
  make name @@ fun () ->
  if Rendezvous.try_send c v then begin
    sent := v :: !sent;
    "ok"
  end
  else "nobody"

let try_receive name c =
  make name @@ fun () ->
  match Rendezvous.try_receive c with
  | None -> "nobody"
  | Some v ->
      received := v :: !received;
      string_of_int v

(* A task that has received [v] was cancelled before it could continue. *)
let back name c v =
  make name @@ fun () ->
  if Rendezvous.undo_receive c () v then "back"
  else begin
    received := v :: !received;
    "kept"
  end

let back_then_send name c v next =
  make name @@ fun () ->
  ignore (Rendezvous.undo_receive c () v : bool);
  Rendezvous.send c next;
  sent := next :: !sent;
  "ok"

let receive_twice name c =
  make name @@ fun () ->
  let receive () =
    let v = Rendezvous.receive c in
    received := v :: !received;
    string_of_int v
  in
  let first = receive () in
  first ^ "," ^ receive ()

(* The values that came back. *)
let returned c =
  let values = ref [] in
  let see (w : _ Waiter.t) =
    if w.resumer == Waiter.accept then values := w.arg :: !values
  in
  (match Atomic.get c with
  | Rendezvous.Closed -> ()
  | Open (senders, _) -> Waiters.iter see senders);
  List.rev !values

let close c = Do (fun () -> Rendezvous.close c)

(* A value that came back before the close has no place any more. *)
let at_rest ?(in_hand = []) c actors () =
  let sorted = List.sort Int.compare and returned = returned c in
  let lost =
    if Rendezvous.is_closed c then
      List.filter (fun v -> not (List.mem v !received)) in_hand
    else []
  in
  if sorted (in_hand @ !sent) <> sorted (lost @ returned @ !received) then
    failwith ("what was sent is not what was received: " ^ describe actors);
  (match Atomic.get c with
  | Rendezvous.Closed -> all_queued actors []
  | Open (senders, receivers) ->
      let senders = live senders and receivers = live receivers in
      all_queued actors [ senders - List.length returned; receivers ];
      if senders > 0 && receivers > 0 then
        failwith "a sender and a receiver wait, but could meet");
  let show vs = String.concat "," (List.map string_of_int vs) in
  describe actors
  ^ (if returned = [] then "" else " " ^ show returned)
  ^ if lost = [] then "" else " lost " ^ show lost

let create () =
  sent := [];
  received := [];
  Rendezvous.create ()

let check ?(looks = 0) ?in_hand name make expect =
  Model.check name ~expect @@ fun () ->
  spin_at_most looks;
  let c = create () in
  let first, processes = make c in
  let processes, actors = start first processes in
  (processes, at_rest ?in_hand c actors)

(* The serving process only tries, so it may come when no task waits, and then its service is
   missed. *)
let cancellations () =
  let check =
    Cancellations.check ~remembers:false ~create ~at_rest:(at_rest ~in_hand:[])
  in
  let receives evt _ name c = receive ~evt name c
  and sends evt _ name c = send ~evt name c 1
  and rest _ = "" in
  check "receive"
    [ ("", receives false); (", an event", receives true) ]
    ~serve:(fun c -> work (try_send "" c 1))
    ~served:"1" ~rest;
  check "send"
    [ ("", sends false); (", an event", sends true) ]
    ~serve:(fun c -> work (try_receive "" c))
    ~served:"ok" ~rest

let values_come_back () =
  let in_hand = [ 1 ] in
  check "a value comes back, receive" ~in_hand
    (fun c -> ([], [ Run (back "x" c 1); Run (receive "r" c) ]))
    [ "x=back r=1" ];
  check "a value comes back, two receive" ~in_hand
    (fun c ->
      ([], [ Run (back "x" c 1); Run (receive "r" c); Run (receive "s" c) ]))
    [ "x=back r=1 s=waits"; "x=back r=waits s=1" ];
  check "a value comes back, one waits to receive and is cancelled" ~in_hand
    (fun c ->
      let r = receive "r" c in
      ([ r ], [ Run (back "x" c 1); Cancel r ]))
    [ "r=1 x=back"; "r=cancelled x=back 1" ];
  check "a value comes back, two wait to receive, the first is cancelled"
    ~in_hand
    (fun c ->
      let r = receive "r" c in
      ([ r; receive "s" c ], [ Run (back "x" c 1); Cancel r ]))
    [ "r=1 s=waits x=back"; "r=cancelled s=1 x=back" ];
  check "a value comes back, one waits to send, one receives" ~in_hand
    (fun c ->
      let s = send "s" c 2 in
      ([ s ], [ Run (back "x" c 1); Run (receive "r" c); Cancel s ]))
    [ "s=cancelled x=back r=1"; "s=ok x=back r=2 1" ];
  check "a value comes back, then one is sent, one receives twice" ~in_hand
    (fun c ->
      ([], [ Run (back_then_send "x" c 1 2); Run (receive_twice "r" c) ]))
    [ "x=ok r=1,2" ];
  check "two values come back, one waits to receive" ~in_hand:[ 1; 2 ]
    (fun c -> ([ receive "r" c ], [ Run (back "x" c 1); Run (back "y" c 2) ]))
    [ "r=1 x=back y=back 2"; "r=2 x=back y=back 1" ];
  check "two values come back, one receives twice" ~in_hand:[ 1; 2 ]
    (fun c ->
      ([], [ Run (back "x" c 1); Run (back "y" c 2); Run (receive_twice "r" c) ]))
    [ "x=back y=back r=1,2"; "x=back y=back r=2,1" ];
  check "a value comes back, close, receive" ~in_hand
    (fun c -> ([], [ Run (back "x" c 1); close c; Run (receive "r" c) ]))
    [ "x=back r=1"; "x=back r=closed lost 1"; "x=kept r=closed" ]

module Described_channel = Described.Make (Channels.Of_channel)

let () =
  Described_channel.some 10;
  cancellations ();
  values_come_back ();
  check "send, and a receive that is cancelled"
    (fun c ->
      let r = receive "r" c in
      ([], [ Run r; Run (send "s" c 1); Cancel r ]))
    [ "r=1 s=ok"; "r=cancelled s=waits" ];
  check "receive, and a send that is cancelled"
    (fun c ->
      let s = send "s" c 1 in
      ([], [ Run s; Run (receive "r" c); Cancel s ]))
    [ "s=cancelled r=waits"; "s=ok r=1" ];
  check "the same, as events"
    (fun c ->
      let s = send ~evt:true "s" c 1 in
      ([], [ Run s; Run (receive ~evt:true "r" c); Cancel s ]))
    [ "s=cancelled r=waits"; "s=ok r=1" ];
  check "two wait to receive, both are cancelled, one tries to send"
    (fun c ->
      let a = receive "a" c and b = receive "b" c in
      ([ a; b ], [ Run (try_send "s" c 1); Cancel a; Cancel b ]))
    [
      "a=1 b=cancelled s=ok";
      "a=cancelled b=1 s=ok";
      "a=cancelled b=cancelled s=nobody";
    ];
  check "two wait to send, the first is cancelled, two receive"
    (fun c ->
      let a = send "a" c 1 and b = send "b" c 2 in
      ([ a; b ], [ Run (receive "r" c); Run (receive "s" c); Cancel a ]))
    [
      "a=cancelled b=ok r=2 s=waits";
      "a=cancelled b=ok r=waits s=2";
      "a=ok b=ok r=1 s=2";
      "a=ok b=ok r=2 s=1";
    ];
  check "one waits to send and is cancelled, another comes"
    (fun c ->
      let a = send "a" c 1 in
      ([ a ], [ Run (send "b" c 2); Run (receive "r" c); Cancel a ]))
    [ "a=cancelled b=ok r=2"; "a=ok b=waits r=1" ];
  check "send, receive, close"
    (fun c -> ([], [ Run (send "s" c 1); Run (receive "r" c); close c ]))
    [ "s=closed r=closed"; "s=ok r=1" ];
  check "one waits to send and is cancelled, close, receive"
    (fun c ->
      let s = send "s" c 1 in
      ([ s ], [ close c; Run (receive "r" c); Cancel s ]))
    [ "s=cancelled r=closed"; "s=closed r=closed"; "s=ok r=1" ];
  check "two only try, one waits and is cancelled"
    (fun c ->
      let s = send "s" c 1 in
      ([ s ], [ Run (try_receive "a" c); Run (try_receive "b" c); Cancel s ]))
    [
      "s=cancelled a=nobody b=nobody"; "s=ok a=1 b=nobody"; "s=ok a=nobody b=1";
    ];
  check "one comes to receive and is cancelled, one tries to send"
    (fun c ->
      let r = receive "r" c in
      ([], [ Run r; Run (try_send "s" c 1); Cancel r ]))
    [ "r=1 s=ok"; "r=cancelled s=nobody"; "r=waits s=nobody" ];
  (* A task is in the queue while it spins. *)
  check "one spins, one tries to send" ~looks:1
    (fun c -> ([], [ Run (receive "r" c); Run (try_send "s" c 1) ]))
    [ "r=1 s=ok"; "r=waits s=nobody" ];
  check "one spins, close" ~looks:1
    (fun c -> ([], [ Run (send "s" c 1); close c ]))
    [ "s=closed" ];
  check "one spins behind another, which is cancelled" ~looks:1
    (fun c ->
      let a = receive "a" c and b = receive "b" c in
      let cancel_and_send =
        make "s" @@ fun () ->
        Model.cancel a.task;
        Rendezvous.send c 1;
        sent := 1 :: !sent;
        "ok"
      in
      ([ a ], [ Run b; Run cancel_and_send ]))
    [ "a=cancelled b=1 s=ok" ];
  Model.finish ()
