open Concord
open Concord_test_support
open Check

let ints what = Alcotest.(check (list int)) what
let waiting t n = int "waiters" n (Channel.waiters t)
let sender t v = Hand.start (fun () -> Channel.send t v)
let receiver t = Hand.start (fun () -> Channel.receive t)

let before_the_registration () =
  let t = Channel.create () in
  let r = ref None in
  let before_block () = r := Some (receiver t) in
  let s = Hand.start ~before_block (fun () -> Channel.send t 1) in
  Hand.settle ();
  Hand.result s;
  int "received" 1 (Hand.result (Option.get !r));
  waiting t 0

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
  int "no waiter was left" 2 !refused

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
  Hand.unwind a;
  waiting t 0;
  let a = Hand.start (fun () -> Event.sync (both t 1)) in
  let _b = sender t 5 in
  Hand.settle ();
  yes "a sender meets it" (Hand.result a = `Received 5)

let behind_itself () =
  let t = Channel.create () in
  let a = Hand.start (fun () -> Event.sync (both t 1)) in
  yes "cancel" (Hand.cancel a);
  (* [a] isn't unwound, so its waiters refuse. *)
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
        [ test "try_send in a finaliser" in_a_finaliser ]
        @ unless_debugged
            (test "a receiver comes before the registration"
               before_the_registration) );
      ( "choices",
        [
          test "a choice does not meet itself" not_with_itself;
          test "a cancelled choice meets no partner" behind_itself;
          test "two choices swap over two channels" swap;
        ] );
    ]
