(* Two producers and two consumers on two domains. No item may be lost or come twice, and
   the items of each producer must come in order. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

let items = 100_000

(* Each of two domains has a scheduler with a producer and a consumer. Items are [2 * number
   + producer]. A consumer returns its items, last one first. *)
let flow ?(items = items) ~give ~take ~finish () =
  let each = items / 2 in
  let side number () =
    Fifo.run @@ fun () ->
    let produce () =
      for i = 0 to each - 1 do
        give ((2 * i) + number)
      done;
      finish number
    in
    let rec consume taken =
      match take () with
      | v -> consume (v :: taken)
      | exception Stream.Closed -> taken
    in
    let taken = Fifo.fork_promise (fun () -> consume []) in
    produce ();
    Promise.await taken
  in
  let other = domain (side 1) in
  let mine = side 0 () in
  let theirs = other () in
  let rec falling = function
    | a :: (b :: _ as rest) -> a > b && falling rest
    | [ _ ] | [] -> true
  in
  let check_order taken =
    let from n = List.filter (fun v -> v land 1 = n) taken in
    yes "each producer's in order" (falling (from 0) && falling (from 1))
  in
  List.iter check_order [ mine; theirs ];
  let all = Array.of_list (List.rev_append mine theirs) in
  Array.sort Int.compare all;
  int "items" items (Array.length all);
  yes "each of them once"
    (Array.for_all2 Int.equal all (Array.init items Fun.id))

(* The producer that finishes last closes the structure. *)
let last_closes close =
  let left = Atomic.make 2 in
  fun (_ : int) -> if Atomic.fetch_and_add left (-1) = 1 then close ()

let stream capacity () =
  let t = Stream.create capacity in
  flow () ~give:(Stream.add t)
    ~take:(fun () -> Stream.take t)
    ~finish:(last_closes (fun () -> Stream.close t))

let stream_events () =
  let t = Stream.create 3 in
  let take = Event.choose [ Event.never; Stream.take_evt t ] in
  flow () ~items:20_000
    ~give:(fun v -> Event.select [ Event.never; Stream.add_evt t v ])
    ~take:(fun () -> Event.sync take)
    ~finish:(last_closes (fun () -> Stream.close t))

let mailbox () =
  let t = Mailbox.create () in
  flow () ~give:(Mailbox.add t)
    ~take:(fun () -> Mailbox.take t)
    ~finish:(last_closes (fun () -> Mailbox.close t))

let channel () =
  let t = Channel.create () in
  flow () ~give:(Channel.send t)
    ~take:(fun () -> Channel.receive t)
    ~finish:(last_closes (fun () -> Channel.close t))

(* One consumer takes all available items repeatedly. *)
let drain capacity () =
  let t = Stream.create capacity in
  let producer number () =
    for i = 0 to (items / 2) - 1 do
      Stream.add t ((2 * i) + number)
    done
  in
  let others = domain (fun () -> beside (producer 0) (producer 1)) in
  let next = [| 0; 0 |] and count = ref 0 in
  let check v =
    incr count;
    let number = v land 1 in
    if v / 2 <> next.(number) then Alcotest.failf "%d came out of order" v;
    next.(number) <- next.(number) + 1
  in
  while !count < items do
    check (Stream.take t);
    let all = Stream.drain t in
    if List.length all > capacity then Alcotest.fail "more than the capacity";
    List.iter check all
  done;
  others ();
  yes "empty" (Stream.is_empty t)

(* Every subscription on both domains sees the values of both in the same order. *)
let broadcast () =
  let n = items / 4 in
  let t = Broadcast.create () in
  let subscriptions = List.init 4 (fun _ -> Broadcast.subscribe t) in
  let finish = last_closes (fun () -> Broadcast.close t) in
  let rec receive_all s seen =
    match Broadcast.receive s with
    | v -> receive_all s (v :: seen)
    | exception Broadcast.Closed -> seen
  in
  let side number () =
    Fifo.run @@ fun () ->
    let mine = List.filteri (fun i _ -> i land 1 = number) subscriptions in
    let start s = Fifo.fork_promise (fun () -> receive_all s []) in
    let readers = List.map start mine in
    for i = 0 to n - 1 do
      Broadcast.send t ((2 * i) + number);
      if i land 15 = 0 then Fifo.yield ()
    done;
    finish number;
    List.map Promise.await readers
  in
  let other = domain (side 1) in
  let mine = side 0 () in
  let all = mine @ other () in
  let first = List.hd all in
  List.iter (fun seen -> yes "one order" (List.equal Int.equal first seen)) all;
  int "values" (2 * n) (List.length first);
  let from number = List.filter (fun v -> v land 1 = number) (List.rev first) in
  let sent number = List.init n (fun i -> (2 * i) + number) in
  yes "each sender's in order" (from 0 = sent 0 && from 1 = sent 1)

(* Tasks of two domains share a subscription, and each value goes to one of them. *)
let shared_subscription () =
  let t = Broadcast.create () in
  let s = Broadcast.subscribe t in
  flow () ~items:20_000 ~give:(Broadcast.send t)
    ~take:(fun () -> Broadcast.receive s)
    ~finish:(last_closes (fun () -> Broadcast.close t))

(* A domain that has seen a stream closed must not be able to add to it. The other domain
   closes one stream after the other while this one watches. *)
let closed_is_closed () =
  let n = 20_000 and late = ref 0 in
  let streams = Array.init n (fun _ -> Stream.create 1000) in
  let looking = Atomic.make (-1) in
  let wait_until condition =
    while not (condition ()) do
      Domain.cpu_relax ()
    done
  in
  let closer =
    domain (fun () ->
        for i = 0 to n - 1 do
          wait_until (fun () -> Atomic.get looking >= i);
          Stream.close streams.(i)
        done)
  in
  for i = 0 to n - 1 do
    let t = streams.(i) in
    Atomic.set looking i;
    wait_until (fun () -> Stream.is_closed t);
    match Stream.try_add t 1 with
    | (_ : bool) -> incr late
    | exception Stream.Closed -> ()
  done;
  closer ();
  int "added after the end" 0 !late

(* One of the domains closes the stream while both add and take. Every accepted item must be
   taken, and no refused one. *)
let closed_in_between capacity () =
  let random = Random.State.make [| capacity |] in
  for _ = 1 to 200 do
    let t = Stream.create capacity in
    let close_at = Random.State.int random 60 in
    let side number () =
      Fifo.run @@ fun () ->
      let rec add i =
        if number = 0 && i = close_at then Stream.close t;
        match Stream.add t ((2 * i) + number) with
        | () -> add (i + 1)
        | exception Stream.Closed -> i
      and take taken =
        match Stream.take t with
        | v -> take (v :: taken)
        | exception Stream.Closed -> taken
      in
      let taken = Fifo.fork_promise (fun () -> take []) in
      let added = List.init (add 0) (fun i -> (2 * i) + number) in
      (added, Promise.await taken)
    in
    let other = domain (side 1) in
    let added, taken = side 0 () in
    let added', taken' = other () in
    let sorted a b = List.sort Int.compare (a @ b) in
    if sorted added added' <> sorted taken taken' then
      Alcotest.failf "%d were added, and %d taken"
        (List.length (added @ added'))
        (List.length (taken @ taken'));
    int "waiters" 0 (Stream.waiters t)
  done

(* --- Choices -------------------------------------------------------------- *)

(* The two meet [n] times. Each time one sends and the other one receives. *)
let meet sends receives n number () =
  let sum = ref 0 and sent = ref 0 in
  for i = 1 to n do
    let send =
      Event.wrap (Channel.send_evt sends i) (fun () ->
          incr sent;
          0)
    in
    let receive = Channel.receive_evt receives in
    let v =
      Event.select (if number = 0 then [ send; receive ] else [ receive; send ])
    in
    sum := !sum + v
  done;
  (!sent, !sum)

let both_choose ~one_channel () =
  let n = 20_000 in
  let a = Channel.create () in
  let b = if one_channel then a else Channel.create () in
  let other = domain (fun () -> Fifo.run (meet b a n 1)) in
  let sent, _ = Fifo.run (meet a b n 0) in
  let sent', _ = other () in
  int "each time one of them sends" n (sent + sent');
  int "waiters" 0 (Channel.waiters a + Channel.waiters b)

(* One task chooses between two streams to take from, while another chooses which of them to
   add to. *)
let between_streams () =
  let n = 30_000 in
  let a = Stream.create 1 and b = Stream.create 2 in
  let other =
    domain (fun () ->
        Fifo.run @@ fun () ->
        for i = 1 to n do
          Event.select [ Stream.add_evt a i; Stream.add_evt b (-i) ]
        done)
  in
  let last = [| 0; 0 |] and sum = ref 0 in
  let seen v =
    let side = if v > 0 then 0 else 1 in
    if abs v <= last.(side) then Alcotest.failf "%d came out of order" v;
    last.(side) <- abs v;
    sum := !sum + abs v
  in
  Fifo.run (fun () ->
      for _ = 1 to n do
        seen (Event.select [ Stream.take_evt a; Stream.take_evt b ])
      done);
  other ();
  int "each item once" (n * (n + 1) / 2) !sum;
  int "waiters" 0 (Stream.waiters a + Stream.waiters b)

let () =
  run "Two domains"
    [
      ( "flows",
        [
          test "Stream, capacity 1" (stream 1);
          test "Stream, capacity 7" (stream 7);
          test "Stream, capacity 100" (stream 100);
          test "Stream, by events" stream_events;
          test "Stream, drain, capacity 1" (drain 1);
          test "Stream, drain, capacity 100" (drain 100);
          test "Mailbox" mailbox;
          test "Channel" channel;
          test "Broadcast: one order for all" broadcast;
          test "Broadcast: one subscription" shared_subscription;
          test "Stream: a closed stream accepts nothing" closed_is_closed;
          test "Stream of 1, closed in between" (closed_in_between 1);
          test "Stream of 3, closed in between" (closed_in_between 3);
        ] );
      ( "choices",
        [
          test "both choose, over one channel" (both_choose ~one_channel:true);
          test "both choose, over two channels" (both_choose ~one_channel:false);
          test "between two streams on each side" between_streams;
        ] );
    ]
