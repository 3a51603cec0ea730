(* The use of one structure by two hosts. [between a b] runs the tasks [a] on one of them, and
   [b] on the other, which is on another domain. *)

open Concord
open Cell_kit
open Lock_cells

(* --- Values --------------------------------------------------------------- *)

let promise between =
  let p = Promise.create () in
  let a () = assert (Promise.await p = 42)
  and b () =
    until_somebody_waits (fun () -> Promise.waiters p);
    Promise.fill p 42
  in
  between [ a ] [ b ]

exception Refused

let promise_fails between =
  let p : unit Promise.t = Promise.create () in
  let a () =
    match Promise.await p with
    | () -> assert false (* the promise fails *)
    | exception Refused -> ()
  and b () =
    until_somebody_waits (fun () -> Promise.waiters p);
    Promise.fail p Refused
  in
  between [ a ] [ b ]

(* [echo] answers each of [n] pings. *)
let ping ping pong n =
  for i = 1 to n do
    Mvar.put ping i;
    assert (Mvar.take pong = -i)
  done

let echo ping pong n =
  for _ = 1 to n do
    Mvar.put pong (-Mvar.take ping)
  done

let mvar between =
  let there = Mvar.create_empty () and back = Mvar.create_empty () in
  let n = 5 * messages in
  between [ (fun () -> ping there back n) ] [ (fun () -> echo there back n) ]

(* While a task waits, its sibling exchanges messages with a task of the other host. *)
let sibling between =
  let p = Promise.create () in
  let there = Mvar.create_empty () and back = Mvar.create_empty () in
  let talk () =
    until_somebody_waits (fun () -> Promise.waiters p);
    echo there back 10;
    Promise.fill p ()
  in
  between
    [ (fun () -> Promise.await p); (fun () -> ping there back 10) ]
    [ talk ]

let channel between =
  let there = Channel.create () and back = Channel.create () in
  let a () =
    for i = 1 to messages do
      Channel.send there i;
      assert (Channel.receive back = -i)
    done;
    Channel.close there
  and b () =
    try
      while true do
        Channel.send back (-Channel.receive there)
      done
    with Channel.Closed -> ()
  in
  between [ a ] [ b ]

(* [take] returns 1 to [messages], and then the end. *)
let in_order take =
  for i = 1 to messages do
    assert (take () = i)
  done;
  match take () with
  | (_ : int) -> assert false (* it is closed *)
  | exception Stream.Closed -> ()

let fill add close () =
  for i = 1 to messages do
    add i
  done;
  close ()

let stream between =
  let s = Stream.create 3 in
  between
    [ (fun () -> in_order (fun () -> Stream.take s)) ]
    [ fill (Stream.add s) (fun () -> Stream.close s) ]

let mailbox between =
  let m = Mailbox.create () in
  between
    [ (fun () -> in_order (fun () -> Mailbox.take m)) ]
    [ fill (Mailbox.add m) (fun () -> Mailbox.close m) ]

let broadcast between =
  let all = Broadcast.create () in
  let follow () =
    let s = Broadcast.subscribe all in
    fun () -> in_order (fun () -> Broadcast.receive s)
  in
  let one = follow () and other = follow () in
  let b () =
    fill (Broadcast.send all) (fun () -> Broadcast.close all) ();
    (* This subscription begins after the end, but still gets every value. *)
    other ()
  in
  between [ one; follow () ] [ b ]

(* A sequence copies a queue into another one, and that one is copied into a third, item by
   item. *)
let to_the_end between =
  let s = Stream.create 3 and c = Channel.create () in
  let m = Mailbox.create () and ended = Promise.create () in
  let sum = ref 0 in
  let a () =
    Stream.add_seq s (Seq.take messages (Seq.ints 1));
    Stream.close s;
    Promise.await ended;
    Mailbox.iter (fun v -> sum := !sum + v) m
  and a' () =
    Channel.iter (Mailbox.add m) c;
    Mailbox.close m;
    Promise.fill ended ()
  and b () =
    Channel.send_seq c (Stream.to_seq s);
    Channel.close c
  in
  between [ a; a' ] [ b ];
  assert (!sum = messages * (messages + 1) / 2)

(* --- Events --------------------------------------------------------------- *)

(* Both sides choose. *)
let select between =
  let one = Channel.create () and other = Channel.create () in
  let stream = Stream.create 1 and sum = ref 0 in
  let a () =
    for _ = 1 to messages do
      sum :=
        !sum
        + Event.select
            [
              Channel.receive_evt one;
              Channel.receive_evt other;
              Stream.take_evt stream;
            ]
    done
  and b () =
    for i = 1 to messages do
      Event.select
        [
          Channel.send_evt one i;
          Stream.add_evt stream i;
          Channel.send_evt other i;
        ]
    done
  in
  between [ a ] [ b ];
  assert (!sum = messages * (messages + 1) / 2)

let timeout between =
  let box = Mvar.create_empty () and ready = Promise.create () in
  let a () =
    let take = Mvar.take_evt box in
    assert (Event.sync_before 0.001 take = None);
    Promise.fill ready ();
    assert (Event.sync_before 100. take = Some 1)
  and b () =
    Promise.await ready;
    until_somebody_waits (fun () -> Mvar.waiters box);
    Mvar.put box 1
  in
  between [ a ] [ b ]

let all =
  [
    ("promise", promise);
    ("promise fails", promise_fails);
    ("mvar", mvar);
    ("channel", channel);
    ("stream", stream);
    ("mailbox", mailbox);
    ("broadcast", broadcast);
    ("to the end", to_the_end);
    ("watch", watch);
    ("bvar", bvar);
    ("mutex", mutex);
    ("condition", condition);
    ("condition alone", condition_alone);
    ("semaphore", semaphore);
    ("rwlock", rwlock);
    ("barrier", barrier);
    ("latch", latch);
    ("work queue", work_queue);
    ("pool", pool);
    ("select", select);
    ("timeout", timeout);
  ]
