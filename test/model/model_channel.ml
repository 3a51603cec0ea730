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

let close c = Do (fun () -> Rendezvous.close c)

let at_rest c actors () =
  let sorted = List.sort Int.compare in
  if sorted !sent <> sorted !received then
    failwith ("what was sent is not what was received: " ^ describe actors);
  (match Atomic.get c with
  | Rendezvous.Closed -> all_queued actors []
  | Open (senders, receivers) ->
      let senders = live senders and receivers = live receivers in
      all_queued actors [ senders; receivers ];
      if senders > 0 && receivers > 0 then
        failwith "a sender and a receiver wait, but could meet");
  describe actors

let create () =
  sent := [];
  received := [];
  Rendezvous.create ()

let check ?(looks = 0) name make expect =
  Model.check name ~expect @@ fun () ->
  spin_at_most looks;
  let c = create () in
  let first, processes = make c in
  let processes, actors = start first processes in
  (processes, at_rest c actors)

(* The serving process only tries, so it may come when no task waits, and then its service is
   missed. *)
let cancellations () =
  let check = Cancellations.check ~remembers:false ~create ~at_rest in
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

let () =
  cancellations ();
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
