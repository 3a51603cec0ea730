(* Two or more domains use the same structure or scheduler without pauses. Their operations
   are not ordered, so only sums are checked. This is mostly for ThreadSanitizer (./dev test
   --tsan), which reports unordered accesses. Alcotest's checks must run on one domain only. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

let rounds = 50
let task f = ignore (Fifo.fork f : Fifo.handle)

(* Runs all functions at the same time, each in its own domain. *)
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

(* One task takes items singly, another one takes all items. No item may be lost or taken
   twice. *)
let takers ~add ~try_take ~drain =
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
      taking drain;
    ];
  int "sum" (n * (n + 1) / 2) (Atomic.get sum)

let stream () =
  let s = Stream.create 100 in
  takers ~add:(Stream.add s)
    ~try_take:(fun () -> Stream.try_take s)
    ~drain:(fun () -> Stream.drain s)

let mailbox () =
  let m = Mailbox.create () in
  takers ~add:(Mailbox.add m)
    ~try_take:(fun () -> Mailbox.try_take m)
    ~drain:(fun () -> Mailbox.drain m)

(* --- Waiters --------------------------------------------------------------- *)

let waiters = 40

(* Many tasks wait. Two domains let them continue, and a third one cancels some. *)
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

(* --- Accesses that structures order --------------------------------------- *)

(* Each structure protects a plain counter from concurrent access. The tasks of a domain
   wait without blocking it, sometimes with a timeout. *)
let excluding during =
  let counter = ref 0 and done_ = Atomic.make 0 in
  let increment () =
    for i = 1 to rounds do
      let incremented = during i (fun () -> incr counter) in
      if incremented then Atomic.incr done_
    done
  in
  let run () =
    Fifo.run @@ fun () ->
    for _ = 1 to 3 do
      task increment
    done
  in
  at_once [ run; run; increment ];
  int "increments" (Atomic.get done_) !counter

let always during _ f =
  during f;
  true

let or_timeout acquire_evt release i f =
  let timeout = if i land 1 = 0 then 1e-5 else 10. in
  match Event.sync_before timeout acquire_evt with
  | Some () ->
      f ();
      release ();
      true
  | None -> false

let mutex () =
  let m = Mutex.create () in
  excluding (always (Mutex.protect m));
  excluding (or_timeout (Mutex.lock_evt m) (fun () -> Mutex.unlock m))

let rwlock () =
  let l = Rwlock.create () in
  excluding (always (Rwlock.write l));
  excluding
    (or_timeout (Rwlock.write_lock_evt l) (fun () -> Rwlock.write_unlock l));
  let field = ref 0 in
  let read () =
    for _ = 1 to rounds do
      Rwlock.read l (fun () -> ignore (Sys.opaque_identity !field : int))
    done
  and write () =
    for i = 1 to rounds do
      Rwlock.write l (fun () -> field := i)
    done
  in
  at_once [ read; read; write ]

let mvar () =
  let box = Mvar.create () in
  let during f =
    Mvar.take box;
    f ();
    Mvar.put box ()
  in
  excluding (always during);
  excluding (or_timeout (Mvar.take_evt box) (fun () -> Mvar.put box ()))

(* Values that were written before a step are read after it. *)
let latch_and_barrier () =
  for _ = 1 to rounds do
    let fields = Array.init 3 (fun _ -> ref 0) in
    let latch = Latch.create 3 and barrier = Barrier.create 3 in
    let sum () = Array.fold_left (fun sum field -> sum + !field) 0 fields in
    let pass () = Event.select [ Barrier.await_evt barrier; Event.never ] in
    let run i () =
      incr fields.(i);
      Latch.count_down latch;
      Latch.await latch;
      if sum () <> 3 then failwith "latch";
      if i = 0 then Barrier.await barrier else pass ();
      incr fields.(i);
      if i = 1 then Barrier.await barrier else pass ();
      if sum () <> 6 then failwith "barrier"
    in
    at_once [ run 0; run 1; run 2 ]
  done

(* Each message is a field that its sender wrote. Tasks that choose may meet each other. *)
let messages () =
  let channel = Channel.create () and choices = Channel.create () in
  let broadcast = Broadcast.create () in
  let subscription = Broadcast.subscribe broadcast in
  let exchange () =
    Fifo.run @@ fun () ->
    for i = 1 to rounds do
      let mine = ref 0 in
      mine := i;
      let received field = ignore (Sys.opaque_identity !field : int) in
      task (fun () -> Channel.send channel mine);
      task (fun () -> received (Channel.receive channel));
      task (fun () ->
          Event.select
            [
              Channel.send_evt choices mine;
              Event.wrap (Broadcast.receive_evt subscription) received;
              Event.timeout 1e-4;
            ]);
      task (fun () ->
          Event.select
            [
              Event.wrap (Channel.receive_evt choices) received;
              Event.timeout 1e-4;
            ]);
      Broadcast.send broadcast mine;
      Fifo.yield ()
    done
  in
  at_once [ exchange; exchange ]

(* The oldest values are dropped meanwhile. *)
let dropped () =
  let t = Broadcast.create ~limit:(Drop_oldest 2) () in
  let a = Broadcast.subscribe t and b = Broadcast.subscribe t in
  let received_a = ref 0 and received_b = ref 0 in
  let receive s received =
    match Broadcast.try_receive s with
    | Some field -> received := !received + !(Sys.opaque_identity field)
    | None -> ()
    | exception Broadcast.Lagged n -> received := !received + n
  in
  let read s received () =
    for _ = 1 to rounds do
      receive s received
    done
  and send () =
    for _ = 1 to rounds do
      let mine = ref 0 in
      mine := 1;
      Broadcast.send t mine
    done
  in
  at_once [ send; send; read a received_a; read b received_b ];
  let rec all s received =
    let before = !received in
    receive s received;
    if !received > before then all s received
    else if !received <> 2 * rounds then
      failwith "received and missed values are not those that were sent"
  in
  all a received_a;
  all b received_b

(* Senders wait meanwhile, and subscriptions end. *)
let held_back () =
  let t = Broadcast.create ~limit:(Wait 2) () in
  let first = Broadcast.subscribe t and second = Broadcast.subscribe t in
  let received = Atomic.make 0 in
  let read s () =
    Fifo.run @@ fun () ->
    for _ = 1 to rounds do
      if Broadcast.senders t > 2 then failwith "more senders than there are";
      let field = Broadcast.receive s in
      ignore (Atomic.fetch_and_add received !(Sys.opaque_identity field) : int)
    done;
    Broadcast.unsubscribe s
  and send () =
    Fifo.run @@ fun () ->
    for _ = 1 to rounds do
      let mine = ref 0 in
      mine := 1;
      Broadcast.send t mine
    done
  in
  at_once [ send; send; read first; read second ];
  if Atomic.get received <> 2 * rounds then failwith "values were lost"

(* Each value is computed once from others, on any of the domains. *)
let lazies () =
  for _ = 1 to rounds do
    let computed = Array.init 20 (fun _ -> ref 0) in
    let lazies = Array.make 20 (Lazy.from_val 1) in
    for i = 1 to 19 do
      lazies.(i) <-
        Lazy.from_fun (fun () ->
            incr computed.(i);
            Lazy.force lazies.(i - 1) + Lazy.force lazies.(i / 2))
    done;
    let force order () =
      Fifo.run @@ fun () ->
      for i = 0 to 19 do
        task (fun () -> ignore (Lazy.force lazies.(order i) : int))
      done
    in
    at_once
      [ force Fun.id; force (fun i -> 19 - i); force (fun i -> i * 7 mod 20) ];
    Array.iteri (fun i n -> int "computed" (if i = 0 then 0 else 1) !n) computed
  done

(* --- The scheduler --------------------------------------------------------- *)

exception Boom

(* The task fails while another domain joins it. The joiner or [run] must get the exception. *)
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

(* Tasks enter scopes, fork and end while another domain cancels them. *)
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
      ( "order",
        [
          test "Mutex" mutex;
          test "Rwlock" rwlock;
          test "Mvar" mvar;
          test "Latch and Barrier" latch_and_barrier;
          test "messages" messages;
          test "messages that are dropped" dropped;
          test "messages whose senders wait" held_back;
          test "Lazy" lazies;
        ] );
      ("Fifo", [ test "failures" failures; test "cancel" cancels ]);
    ]
