(* Two domains and more at the same structure or scheduler, without pauses: what they do
   at once is not ordered here, and only sums are checked. For ThreadSanitizer above all
   (./dev test --tsan), which sees every access that nothing orders. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

let rounds = 50
let task f = ignore (Fifo.fork f : Fifo.handle)

(* All at once, each in a domain. *)
let at_once fs =
  let ready = Atomic.make (List.length fs) in
  let start f () =
    Atomic.decr ready;
    while Atomic.get ready > 0 do
      Domain.cpu_relax ()
    done;
    f ()
  in
  List.iter (fun join -> join ()) (List.map (fun f -> domain (start f)) fs)

(* --- Queues ---------------------------------------------------------------- *)

(* One takes singly, one takes all there is: nothing is lost, or taken twice. *)
let takers ~add ~try_take ~take_all =
  let n = 100 * rounds in
  let left = Atomic.make n and sum = Atomic.make 0 in
  let took v =
    ignore (Atomic.fetch_and_add sum v : int);
    Atomic.decr left
  in
  let taking take () =
    while Atomic.get left > 0 do
      List.iter took (take ());
      Domain.cpu_relax ()
    done
  in
  at_once
    [
      (fun () ->
        for i = 1 to n do
          add i
        done);
      taking (fun () -> Option.to_list (try_take ()));
      taking take_all;
    ];
  int "sum" (n * (n + 1) / 2) (Atomic.get sum)

let stream () =
  let s = Stream.create 100 in
  takers ~add:(Stream.add s)
    ~try_take:(fun () -> Stream.try_take s)
    ~take_all:(fun () -> Stream.take_all s)

let mailbox () =
  let m = Mailbox.create () in
  takers ~add:(Mailbox.put m)
    ~try_take:(fun () -> Mailbox.try_take m)
    ~take_all:(fun () -> Mailbox.take_all m)

(* --- Those who wait -------------------------------------------------------- *)

let waiters = 40

(* Many wait; two domains let them go on, and a third cancels some. *)
let crowd () =
  for _ = 1 to rounds do
    let s = Semaphore.Counting.make 0 and handles = Atomic.make [] in
    let acquired = Atomic.make 0 in
    let acquire () =
      Semaphore.Counting.acquire s;
      Atomic.incr acquired
    in
    let wait () =
      Fifo.run (fun () ->
          Atomic.set handles (List.init waiters (fun _ -> Fifo.fork acquire)))
    in
    let waiting = domain wait in
    eventually "all wait" (fun () ->
        List.compare_length_with (Atomic.get handles) waiters = 0
        && Semaphore.Counting.waiters s = waiters);
    let release () =
      for _ = 1 to waiters / 2 do
        Semaphore.Counting.release s
      done
    and cancel () =
      List.iteri
        (fun i handle -> if i land 3 = 0 then Fifo.cancel handle)
        (Atomic.get handles)
    in
    at_once [ release; release; cancel ];
    waiting ();
    int "released" waiters (Atomic.get acquired + Semaphore.Counting.get_value s)
  done

(* The timeout and the value come at about the same time. *)
let timeouts () =
  let box = Mvar.create_empty () and received = Atomic.make 0 in
  let sent = Atomic.make 0 and stop = Atomic.make false in
  let receive () =
    for _ = 1 to rounds do
      match Event.sync_before 1e-4 (Mvar.take_evt box) with
      | Some () -> Atomic.incr received
      | None -> ()
    done;
    Atomic.set stop true
  and send () =
    while not (Atomic.get stop) do
      if Mvar.try_put box () then Atomic.incr sent;
      Unix.sleepf 1e-4
    done
  in
  at_once [ receive; send ];
  let left = if Mvar.is_empty box then 0 else 1 in
  int "received" (Atomic.get sent) (Atomic.get received + left)

(* --- The scheduler --------------------------------------------------------- *)

exception Boom

(* The task fails while another domain joins it: one of the two is told. *)
let failures () =
  for _ = 1 to rounds do
    let handle = Promise.create () and told = Atomic.make 0 in
    let tell f = try f () with Boom -> Atomic.incr told in
    let run () =
      Fifo.run @@ fun () ->
      let fail () =
        Fifo.yield ();
        raise Boom
      in
      Promise.fill handle (Fifo.fork fail);
      for _ = 1 to 10 do
        Fifo.yield ()
      done
    in
    at_once
      [
        (fun () -> tell run);
        (fun () -> tell (fun () -> Fifo.join (Promise.await handle)));
      ];
    yes "told" (Atomic.get told > 0)
  done

(* Tasks enter scopes, fork and end, while another domain cancels them. *)
let cancels () =
  for _ = 1 to rounds do
    let handle = Promise.create () and scope = Promise.create () in
    let rec nest n =
      if n > 0 then (
        Fifo.Scope.run @@ fun scope' ->
        ignore (Promise.try_fill scope scope' : bool);
        task Fifo.yield;
        Fifo.yield ();
        nest (n - 1))
    in
    let run () =
      try
        Fifo.run @@ fun () ->
        Promise.fill handle (Fifo.fork (fun () -> nest 10))
      with Fifo.Cancelled -> ()
    in
    at_once
      [
        run;
        (fun () ->
          ignore (Promise.await scope : Fifo.Scope.t);
          Fifo.cancel (Promise.await handle));
        (fun () -> Fifo.Scope.cancel (Promise.await scope));
      ]
  done

let () =
  run "domains"
    [
      ("queues", [ test "Stream" stream; test "Mailbox" mailbox ]);
      ("waiters", [ test "a crowd" crowd; test "timeouts" timeouts ]);
      ("Fifo", [ test "failures" failures; test "cancel" cancels ]);
    ]
