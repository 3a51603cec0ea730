(* Ways for values between Lwt's loop and domains, and ledgers of the values that came through. *)

open Concord
open Concord_test_support.Race
open Lwt.Syntax

(* --- Each value once ------------------------------------------------------- *)

let ledger n = Array.init n (fun _ -> Atomic.make false)

let note name ledger v =
  if v < 0 || v >= Array.length ledger then fail "%s: %d was never sent" name v;
  if Atomic.exchange ledger.(v) true then fail "%s: %d came twice" name v

let check name ledger =
  Array.iteri
    (fun v seen -> if not (Atomic.get seen) then fail "%s: %d was lost" name v)
    ledger

(* [in_domains k ~tasks n f] calls [f i] for all [i] below [n], in tasks of [k] domains. The
   result joins them. *)
let in_domains k ~tasks n f =
  let next = Atomic.make 0 in
  let rec work () =
    let i = Atomic.fetch_and_add next 1 in
    if i < n then begin
      f i;
      work ()
    end
  in
  let domain _ =
    Domain.spawn (fun () ->
        Concord_fifo.run (fun () ->
            for _ = 1 to tasks do
              ignore (Concord_fifo.fork work : Concord_fifo.handle)
            done))
  in
  let all = List.init k domain in
  fun () -> List.iter Domain.join all

let timed name f =
  let start = Unix.gettimeofday () in
  let text = f () in
  Printf.printf "%-24s %s, %.2f s\n%!" name text (Unix.gettimeofday () -. start)

(* --- The ways through ------------------------------------------------------ *)

(* Direct style for the domains, and monadic style for Lwt. *)
type way = {
  give : int -> unit;
  take : unit -> int;
  give_lwt : int -> unit Lwt.t;
  take_lwt : unit -> int Lwt.t;
  waiters : unit -> int;
  is_empty : unit -> bool;
}

let mvar () =
  let t = Mvar.create_empty () in
  {
    give = Mvar.put t;
    take = (fun () -> Mvar.take t);
    give_lwt = Concord_lwt.Mvar.put t;
    take_lwt = (fun () -> Concord_lwt.Mvar.take t);
    waiters = (fun () -> Mvar.waiters t);
    is_empty = (fun () -> Mvar.is_empty t);
  }

let channel () =
  let t = Channel.create () in
  {
    give = Channel.send t;
    take = (fun () -> Channel.receive t);
    give_lwt = Concord_lwt.Channel.send t;
    take_lwt = (fun () -> Concord_lwt.Channel.receive t);
    waiters = (fun () -> Channel.waiters t);
    is_empty = (fun () -> Channel.try_receive t = None);
  }

let stream () =
  let t = Stream.create 3 in
  {
    give = Stream.add t;
    take = (fun () -> Stream.take t);
    give_lwt = Concord_lwt.Stream.add t;
    take_lwt = (fun () -> Concord_lwt.Stream.take t);
    waiters = (fun () -> Stream.waiters t);
    is_empty = (fun () -> Stream.is_empty t);
  }

(* There is little room, because otherwise no task would wait to take. *)
let mailbox () =
  let t = Mailbox.create () and room = Semaphore.Counting.make 3 in
  let taken v =
    Semaphore.Counting.release room;
    v
  in
  let give v =
    Semaphore.Counting.acquire room;
    Mailbox.add t v
  in
  {
    give;
    take = (fun () -> taken (Mailbox.take t));
    give_lwt =
      (fun v ->
        Lwt.map
          (fun () -> Mailbox.add t v)
          (Concord_lwt.Semaphore.Counting.acquire room));
    take_lwt = (fun () -> Lwt.map taken (Concord_lwt.Mailbox.take t));
    waiters = (fun () -> Mailbox.waiters t + Semaphore.Counting.waiters room);
    is_empty =
      (fun () -> Mailbox.is_empty t && Semaphore.Counting.get_value room = 3);
  }

(* Choices on both sides. *)
let choice () =
  let c = Channel.create () and s = Stream.create 1 in
  let give v = [ Channel.send_evt c v; Stream.add_evt s v ]
  and take () = [ Channel.receive_evt c; Stream.take_evt s ] in
  {
    give = (fun v -> Event.select (give v));
    take = (fun () -> Event.select (take ()));
    give_lwt = (fun v -> Concord_lwt.select (give v));
    take_lwt = (fun () -> Concord_lwt.select (take ()));
    waiters = (fun () -> Channel.waiters c + Stream.waiters s);
    is_empty = (fun () -> Stream.is_empty s && Channel.try_receive c = None);
  }

(* A queue with room for three items, made in the usual way. *)
let condition () =
  let mutex = Mutex.create () and items = Queue.create () in
  let filled = Condition.create () and emptied = Condition.create () in
  let try_give v =
    Queue.length items < 3
    && begin
      Queue.push v items;
      Condition.signal filled;
      true
    end
  and try_take () =
    let taken = Queue.take_opt items in
    if Option.is_some taken then Condition.signal emptied;
    taken
  in
  let rec give v =
    if not (try_give v) then begin
      Condition.wait emptied mutex;
      give v
    end
  in
  let rec take () =
    match try_take () with
    | Some v -> v
    | None ->
        Condition.wait filled mutex;
        take ()
  in
  let rec give_lwt v =
    if try_give v then Lwt.return_unit
    else
      let* () = Concord_lwt.Condition.wait emptied mutex in
      give_lwt v
  in
  let rec take_lwt () =
    match try_take () with
    | Some v -> Lwt.return v
    | None ->
        let* () = Concord_lwt.Condition.wait filled mutex in
        take_lwt ()
  in
  {
    give = (fun v -> Mutex.protect mutex (fun () -> give v));
    take = (fun () -> Mutex.protect mutex take);
    give_lwt =
      (fun v -> Concord_lwt.Mutex.with_lock mutex (fun () -> give_lwt v));
    take_lwt = (fun () -> Concord_lwt.Mutex.with_lock mutex take_lwt);
    waiters =
      (fun () ->
        Condition.waiters filled + Condition.waiters emptied
        + Mutex.waiters mutex);
    is_empty = (fun () -> Queue.is_empty items && not (Mutex.is_locked mutex));
  }

let ways =
  [
    ("mvar", mvar);
    ("channel", channel);
    ("stream", stream);
    ("mailbox", mailbox);
    ("choice", choice);
    ("condition", condition);
  ]

let at_rest name way =
  if way.waiters () <> 0 then fail "%s: a waiter stays" name;
  if not (way.is_empty ()) then fail "%s: a value is left" name
