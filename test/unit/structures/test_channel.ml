open Concord
open Concord_test_support
open Check

let ints what = Alcotest.(check (list int)) what
let waiting t n = int "waiters" n (Channel.waiters t)
let sender t v = Hand.start (fun () -> Channel.send t v)
let receiver t = Hand.start (fun () -> Channel.receive t)

let cancel task =
  yes "cancel" (Hand.cancel task);
  Hand.settle ();
  raises "the cancelled task" Hand.Cancelled (fun () -> Hand.result task)

let nobody_waits () =
  let t = Channel.create () in
  no "try_send" (Channel.try_send t 1);
  yes "try_receive" (Channel.try_receive t = None);
  yes "polls"
    (Event.poll (Channel.send_evt t 1) = None
    && Event.poll (Channel.receive_evt t) = None);
  waiting t 0;
  no "open" (Channel.is_closed t)

let they_meet () =
  let t = Channel.create () in
  let s = sender t 1 in
  waiting t 1;
  no "senders do not meet" (Channel.try_send t 9);
  yes "receive" (Channel.try_receive t = Some 1);
  let r = receiver t in
  yes "receivers do not meet" (Channel.try_receive t = None);
  yes "send" (Channel.try_send t 2);
  waiting t 0;
  Hand.settle ();
  Hand.result s;
  int "received" 2 (Hand.result r);
  let s = sender t 3 in
  int "without waiting" 3 (Channel.receive t);
  Hand.settle ();
  Hand.result s

let in_order () =
  traced [ "sent"; "a: 1"; "b: 2"; "c: 3"; "received"; "4"; "5"; "6" ]
  @@ fun say ->
  let t = Channel.create () in
  let receive name =
    Hand.start (fun () ->
        say (Printf.sprintf "%s: %d" name (Channel.receive t)))
  in
  let tasks = List.map receive [ "a"; "b"; "c" ] in
  waiting t 3;
  List.iter (Channel.send t) [ 1; 2; 3 ];
  no "nobody is left" (Channel.try_send t 4);
  say "sent";
  Hand.settle ();
  List.iter Hand.result tasks;
  let send v =
    Hand.start (fun () ->
        Channel.send t v;
        say (string_of_int v))
  in
  let tasks = List.map send [ 4; 5; 6 ] in
  List.iter (fun v -> int "in turn" v (Channel.receive t)) [ 4; 5; 6 ];
  say "received";
  Hand.settle ();
  List.iter Hand.result tasks

let before_the_registration () =
  let t = Channel.create () in
  let r = ref None in
  let before_block () = r := Some (receiver t) in
  let s = Hand.start ~before_block (fun () -> Channel.send t 1) in
  Hand.settle ();
  Hand.result s;
  int "received" 1 (Hand.result (Option.get !r));
  let before_block () = Channel.close t in
  let task = Hand.start ~before_block (fun () -> Channel.receive t) in
  raises "closed" Channel.Closed (fun () -> Hand.result task)

let in_a_finaliser () =
  let t = Channel.create () in
  let tasks = List.init 10 (fun _ -> receiver t) and refused = ref 0 in
  for i = 1 to 12 do
    let send r = if not (Channel.try_send t !r) then incr refused in
    Gc.finalise send (ref i)
  done;
  Gc.full_major ();
  Gc.full_major ();
  Hand.settle ();
  int "values" 10 (List.length (List.map Hand.result tasks));
  int "nobody was left" 2 !refused

(* --- Cancelled ------------------------------------------------------------ *)

let each_of_three f =
  List.iter (fun i -> List.iter (f i) [ true; false ]) [ 0; 1; 2 ]

let without i list = List.filteri (fun j _ -> j <> i) list

let cancelled_receiver () =
  each_of_three @@ fun i unwound ->
  let t = Channel.create () in
  let tasks = List.init 3 (fun _ -> receiver t) in
  let cancelled = List.nth tasks i in
  if unwound then cancel cancelled else yes "cancel" (Hand.cancel cancelled);
  List.iter (fun v -> yes "send" (Channel.try_send t v)) [ 1; 2 ];
  no "the third is nobody's" (Channel.try_send t 3);
  Hand.settle ();
  waiting t 0;
  ints "in turn" [ 1; 2 ] (List.map Hand.result (without i tasks))

let cancelled_sender () =
  each_of_three @@ fun i unwound ->
  let t = Channel.create () in
  let tasks = List.map (sender t) [ 1; 2; 3 ] in
  let cancelled = List.nth tasks i in
  if unwound then cancel cancelled else yes "cancel" (Hand.cancel cancelled);
  let first = Channel.receive t in
  let second = Channel.receive t in
  ints "in turn" (without i [ 1; 2; 3 ]) [ first; second ];
  yes "its value is not sent" (Channel.try_receive t = None);
  Hand.settle ();
  waiting t 0;
  List.iter Hand.result (without i tasks)

let resumed_then_cancelled () =
  let t = Channel.create () in
  let r = receiver t in
  Channel.send t 1;
  no "too late for the receiver" (Hand.cancel r);
  Hand.settle ();
  int "it has the value" 1 (Hand.result r);
  let s = sender t 2 in
  int "receive" 2 (Channel.receive t);
  no "too late for the sender" (Hand.cancel s);
  Hand.settle ();
  Hand.result s

let no_memory () =
  let bulk wait =
    let t = Channel.create () in
    let before = words t in
    let tasks = List.init 10_000 (fun _ -> Hand.start (fun () -> wait t)) in
    waiting t 10_000;
    List.iter (fun task -> yes "cancel" (Hand.cancel task)) tasks;
    Hand.settle ();
    waiting t 0;
    int "words" before (words t)
  in
  bulk (fun t -> Channel.send t 1);
  bulk (fun t -> ignore (Channel.receive t : int));
  bulk (fun t ->
      let send = Event.wrap (Channel.send_evt t 1) (fun () -> 0) in
      ignore (Event.sync send : int))

(* --- Closed --------------------------------------------------------------- *)

let closed what f = raises what Channel.Closed f

let ended t =
  yes "closed" (Channel.is_closed t);
  closed "send" (fun () -> Channel.send t 1);
  closed "receive" (fun () -> Channel.receive t);
  closed "try_send" (fun () -> Channel.try_send t 1);
  closed "try_receive" (fun () -> Channel.try_receive t);
  closed "send_evt" (fun () -> Event.sync (Channel.send_evt t 1));
  closed "receive_evt" (fun () -> Event.poll (Channel.receive_evt t));
  waiting t 0;
  Channel.close t;
  yes "closed again" (Channel.is_closed t)

let close () =
  let t = Channel.create () in
  Channel.close t;
  ended t;
  let closes wait =
    let t = Channel.create () in
    let a = Hand.start (fun () -> wait t) in
    let b = Hand.start (fun () -> wait t) in
    yes "cancel" (Hand.cancel a);
    Channel.close t;
    no "too late" (Hand.cancel b);
    Hand.settle ();
    raises "cancelled before" Hand.Cancelled (fun () -> Hand.result a);
    closed "closed" (fun () -> Hand.result b);
    ended t
  in
  closes (fun t -> Channel.send t 1);
  closes (fun t -> ignore (Channel.receive t : int));
  closes (fun t -> Event.select [ Channel.send_evt t 1; Event.never ]);
  let t = Channel.create () in
  let r = receiver t in
  Channel.send t 1;
  Channel.close t;
  Hand.settle ();
  int "they met before" 1 (Hand.result r)

(* --- Both sides choose ---------------------------------------------------- *)

let both t v =
  let sent = Event.wrap (Channel.send_evt t v) (fun () -> `Sent)
  and received = Event.wrap (Channel.receive_evt t) (fun v -> `Received v) in
  Event.choose [ sent; received ]

let not_with_itself () =
  for _ = 1 to 100 do
    let t = Channel.create () in
    let a = Hand.start (fun () -> Event.sync (both t 1)) in
    Hand.settle ();
    yes "it waits" (Hand.waits a);
    waiting t 2;
    yes "poll has met it"
      (match Event.poll (both t 2) with
      | Some `Sent ->
          Hand.settle ();
          Hand.result a = `Received 2
      | Some (`Received 1) ->
          Hand.settle ();
          Hand.result a = `Sent
      | _ -> false);
    waiting t 0;
    let a = Hand.start (fun () -> Event.sync (both t 1)) in
    let b = Hand.start (fun () -> Event.sync (both t 2)) in
    Hand.settle ();
    waiting t 0;
    yes "two such choices meet"
      (match (Hand.result a, Hand.result b) with
      | `Sent, `Received 1 | `Received 2, `Sent -> true
      | _ -> false)
  done;
  let t = Channel.create () in
  let a = Hand.start (fun () -> Event.sync (both t 1)) in
  cancel a;
  waiting t 0;
  let a = Hand.start (fun () -> Event.sync (both t 1)) in
  let _b = sender t 5 in
  Hand.settle ();
  yes "a sender meets it" (Hand.result a = `Received 5)

let behind_itself () =
  let t = Channel.create () in
  let a = Hand.start (fun () -> Event.sync (both t 1)) in
  yes "cancel" (Hand.cancel a);
  (* [a] is not unwound: its waiters refuse. *)
  let b = Hand.start (fun () -> Event.sync (both t 2)) in
  let c = receiver t in
  Hand.settle ();
  yes "b sent" (Hand.result b = `Sent);
  int "c received" 2 (Hand.result c);
  waiting t 0

let swap () =
  let left = Channel.create () and right = Channel.create () in
  let start sends receives v =
    let other = Event.wrap (Channel.receive_evt receives) (fun v -> `Received v)
    and own = Event.wrap (Channel.send_evt sends v) (fun () -> `Sent) in
    Hand.start (fun () ->
        match Event.select [ own; other ] with
        | `Received v' ->
            Channel.send sends v;
            v'
        | `Sent -> Channel.receive receives)
  in
  for i = 1 to 100 do
    let a = start left right i in
    let b = start right left (-i) in
    Hand.settle ();
    ints "swapped" [ -i; i ] [ Hand.result a; Hand.result b ];
    waiting left 0;
    waiting right 0
  done

let () =
  run "Channel"
    [
      ( "operations",
        [
          test "nobody waits" nobody_waits;
          test "a sender and a receiver meet" they_meet;
          test "both are served in order" in_order;
          test "the channel changes before the registration"
            before_the_registration;
          test "close: in each state" close;
          test "try_send in a finaliser" in_a_finaliser;
        ] );
      ( "cancellation",
        [
          test "a receiver: first, middle, last" cancelled_receiver;
          test "a sender: first, middle, last" cancelled_sender;
          test "resumed, then cancelled: it has happened" resumed_then_cancelled;
          test "10,000 cancelled waits leave no memory" no_memory;
        ] );
      ( "choices",
        [
          test "a choice does not meet itself" not_with_itself;
          test "a choice that was cancelled meets nobody" behind_itself;
          test "two choices swap over two channels" swap;
        ] );
    ]
