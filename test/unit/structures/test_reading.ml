(* Reading a queue to its end. All queues have the same functions for it. *)

open Concord
open Concord_test_support
open Check
open Reading_cases

module Of_stream = Cases (struct
  include Stream

  type 'a sink = 'a t

  let name = "Stream"
  let room = 2

  let create () =
    let t = create room in
    (t, t)
end)

module Of_mailbox = Cases (struct
  include Mailbox

  type 'a sink = 'a t

  let name = "Mailbox"
  let room = max_int

  let create () =
    let t = create () in
    (t, t)
end)

module Of_channel = Cases (struct
  include Channel

  type 'a sink = 'a t

  let name = "Channel"
  let add_seq = send_seq
  let room = 0

  let create () =
    let t = create () in
    (t, t)
end)

module Of_broadcast = Cases (struct
  include Broadcast

  type 'a sink = 'a t
  type 'a t = 'a subscription

  let name = "Broadcast"
  let add_seq = send_seq
  let room = max_int

  let create () =
    let t = create () in
    (t, subscribe t)
end)

(* Each subscription drains its own values. *)
let drain_subscriptions () =
  let t = Broadcast.create () in
  let a = Broadcast.subscribe t in
  Broadcast.send t 1;
  let b = Broadcast.subscribe t in
  Broadcast.send t 2;
  ints "all since it subscribed" [ 1; 2 ] (Broadcast.drain a);
  Broadcast.send t 3;
  ints "values that came since" [ 3 ] (Broadcast.drain a);
  ints "of the other" [ 2; 3 ] (Broadcast.drain b)

(* Several senders wait. Each must learn that its value was received. *)
let drain_senders () =
  let t = Channel.create () in
  let send v = Hand.start (fun () -> Channel.send t v) in
  let tasks = List.map send [ 1; 2; 3; 4 ] in
  Hand.unwind (List.nth tasks 1);
  ints "all that wait" [ 1; 3; 4 ] (Channel.drain t);
  Hand.settle ();
  List.iteri (fun i task -> if i <> 1 then Hand.result task) tasks;
  int "no task waits" 0 (Channel.waiters t)

(* A host that runs a task at once when it is resumed. *)
let run_at_once f =
  let open Effect.Deep in
  let continue k = function
    | Ok v -> continue k v
    | Error e -> discontinue k e
  in
  let effc : type a. a Effect.t -> ((a, _) continuation -> _) option = function
    | Tools.Suspend.Suspend block ->
        Some
          (fun k ->
            let resumer outcome =
              continue k outcome;
              true
            in
            Option.iter (fun v -> continue k (Ok v)) (block resumer))
    | _ -> None
  in
  try_with f () { effc }

(* A sender that sends again while the channel is drained comes too late. *)
let drain_once () =
  let t = Channel.create () in
  run_at_once (fun () -> List.iter (Channel.send t) [ 1; 2; 3 ]);
  ints "the value that waits" [ 1 ] (Channel.drain t);
  ints "the next one" [ 2 ] (Channel.drain t);
  ints "the last one" [ 3 ] (Channel.drain t)

let () =
  run "Reading to the end"
    [
      Of_stream.suite;
      Of_mailbox.suite;
      Of_channel.suite;
      Of_broadcast.suite;
      ( "drain",
        [
          test "each subscription has its own" drain_subscriptions;
          test "all senders that wait" drain_senders;
          test "a sender that sends again" drain_once;
        ] );
    ]
