(* Channels. The scenarios below are those of values that come back. *)

open Actor

let sent = ref []
let received = ref []

let send name c v =
  make name @@ fun () ->
  Rendezvous.send c v;
  sent := v :: !sent;
  "ok"

let receive name c =
  make name @@ fun () ->
  let v = Rendezvous.receive c in
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

(* At rest, no sender and receiver wait that could meet. *)
let live_at_rest c =
  match Atomic.get c with
  | Rendezvous.Closed -> (0, 0)
  | Open (senders, receivers) ->
      let senders = live senders and receivers = live receivers in
      if senders > 0 && receivers > 0 then
        failwith "a sender and a receiver wait, but could meet";
      (senders, receivers)

(* A value that came back before the close has no place any more. *)
let at_rest ~in_hand c actors () =
  let sorted = List.sort Int.compare and returned = returned c in
  let lost =
    if Rendezvous.is_closed c then
      List.filter (fun v -> not (List.mem v !received)) in_hand
    else []
  in
  if sorted (in_hand @ !sent) <> sorted (lost @ returned @ !received) then
    failwith ("what was sent is not what was received: " ^ describe actors);
  let senders, receivers = live_at_rest c in
  all_queued actors [ senders - List.length returned; receivers ];
  let show vs = String.concat "," (List.map string_of_int vs) in
  describe actors
  ^ (if returned = [] then "" else " " ^ show returned)
  ^ if lost = [] then "" else " lost " ^ show lost

let check ~in_hand name make expect =
  Model.check name ~expect @@ fun () ->
  sent := [];
  received := [];
  let c = Rendezvous.create () in
  let first, processes = make c in
  let processes, actors = start first processes in
  (processes, at_rest ~in_hand c actors)

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
  Described_channel.some 40 ~at_rest:(fun c ->
      ignore (live_at_rest c : int * int));
  values_come_back ();
  Model.finish ()
