(* Thousands of tasks of several hosts use a few Mvars and promises in every possible way. They
   are cancelled at random, one by one or with their scope. At the end, every sent value was
   received once or is still in a box. *)

open Concord
open Concord_test_support.Race

let boxes = Array.init 3 (fun _ -> Mvar.create_empty ())
let next_value = Atomic.make 0
let fresh () = Atomic.fetch_and_add next_value 1

(* A record of what the tasks of one thread have done. *)
type ledger = {
  random : Random.State.t;
  mutable sent : int list;
  mutable received : int list;
  mutable waits_cancelled : int;
  mutable operations : int;
}

let ledger n =
  {
    random = random n;
    sent = [];
    received = [];
    waits_cancelled = 0;
    operations = 0;
  }

let sent l v = l.sent <- v :: l.sent
let received l v = l.received <- v :: l.received

let add l ~into =
  into.sent <- List.rev_append l.sent into.sent;
  into.received <- List.rev_append l.received into.received;
  into.waits_cancelled <- into.waits_cancelled + l.waits_cancelled;
  into.operations <- into.operations + l.operations

exception Refused

let operation l ~yield =
  l.operations <- l.operations + 1;
  let box = boxes.(Random.State.int l.random (Array.length boxes)) in
  match Random.State.int l.random 12 with
  | 0 | 1 ->
      let v = fresh () in
      Mvar.put box v;
      sent l v
  | 2 ->
      let v = fresh () in
      Event.sync (Mvar.put_evt box v);
      sent l v
  | 3 | 4 -> received l (Mvar.take box)
  | 5 -> received l (Event.sync (Mvar.take_evt box))
  | 6 ->
      let v = Mvar.read box in
      if v < 0 || v >= Atomic.get next_value then fail "read %d" v
  | 7 ->
      let v = fresh () in
      let old = Mvar.swap box v in
      sent l v;
      received l old
  | 8 ->
      let v = fresh () in
      let old =
        Mvar.modify box (fun old ->
            (* The task may be cancelled here. In this case nothing has changed. *)
            if Random.State.int l.random 4 = 0 then yield ();
            (v, old))
      in
      sent l v;
      received l old
  | 9 -> (
      match Mvar.modify box (fun _ -> raise Refused) with
      | () -> assert false (* [f] raises *)
      | exception Refused -> ())
  | 10 ->
      let v = fresh () in
      if Mvar.try_put box v then sent l v
  | _ -> Option.iter (received l) (Mvar.try_take box)

(* --- Hosts ---------------------------------------------------------------- *)

(* These aren't the hosts of test/support/hosts, because each wave of tasks is cancelled
   together. Each host has its own means for this, a scope or a switch. *)

let tasks = 40
let waves = if long then 250_000 else 2_500

(* Lets this host's tasks run and, now and then, the other threads. *)
let let_others_run l ~yield =
  yield ();
  if Random.State.int l.random 10 = 0 then Thread.yield ()

let fifo ?cancellation l () =
  Concord_fifo.run ?cancellation @@ fun () ->
  let promise = ref (Promise.create ()) in
  let rec busy n =
    if n > 0 then begin
      if Random.State.int l.random 40 = 0 then Promise.await !promise
      else operation l ~yield:Concord_fifo.yield;
      busy (n - 1)
    end
  in
  let task () =
    try busy 6
    with Concord_fifo.Cancelled as e ->
      l.waits_cancelled <- l.waits_cancelled + 1;
      raise e
  in
  let wave () =
    promise := Promise.create ();
    match
      Concord_fifo.Scope.run @@ fun scope ->
      let handles = Array.init tasks (fun _ -> Concord_fifo.fork task) in
      for _ = 1 to Random.State.int l.random 30 do
        if Random.State.bool l.random then
          Concord_fifo.cancel handles.(Random.State.int l.random tasks);
        let_others_run l ~yield:Concord_fifo.yield
      done;
      Promise.fill !promise ();
      let_others_run l ~yield:Concord_fifo.yield;
      (* Without this, some tasks may wait forever. *)
      Concord_fifo.Scope.cancel scope
    with
    | () | (exception Concord_fifo.Cancelled) -> ()
  in
  for _ = 1 to waves do
    wave ()
  done

exception Enough

let eio l () =
  let rec busy n =
    if n > 0 then begin
      operation l ~yield:Eio.Fiber.yield;
      busy (n - 1)
    end
  in
  let fiber () =
    try busy 6
    with Eio.Cancel.Cancelled _ as e ->
      l.waits_cancelled <- l.waits_cancelled + 1;
      raise e
  in
  let wave () =
    match
      Eio.Switch.run @@ fun switch ->
      for _ = 1 to tasks do
        Eio.Fiber.fork ~sw:switch fiber
      done;
      for _ = 1 to Random.State.int l.random 30 do
        let_others_run l ~yield:Eio.Fiber.yield
      done;
      Eio.Switch.fail switch Enough
    with
    | () | (exception Enough) -> ()
  in
  for _ = 1 to waves do
    wave ()
  done

(* Its operations can't be cancelled, so [main] makes sure that they end. *)
let thread l () =
  for _ = 1 to waves * 5 do
    operation l ~yield:Thread.yield
  done

let in_domainslib l () =
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  let l' = { l with random = random 100 } in
  Domainslib.Task.run pool (fun () ->
      let nested l = Domainslib.Task.async pool (fifo l) in
      let one = nested l and other = nested l' in
      Domainslib.Task.await pool one;
      Domainslib.Task.await pool other);
  Domainslib.Task.teardown_pool pool;
  add l' ~into:l

let in_eio l () =
  Eio_main.run @@ fun _ ->
  let l' = { l with random = random 101 } in
  Eio.Fiber.both (fifo l) (eio l');
  add l' ~into:l

let () =
  watchdog ~seconds:(if long then 1800. else 120.);
  Printf.printf "seed %d\n%!" seed;
  let groups =
    [
      ("fifo", fun l -> fifo l ());
      ("fifo, lazy", fun l -> fifo ~cancellation:`Lazy l ());
      ("eio, and fifo in it", fun l -> in_eio l ());
      ("fifo in domainslib", fun l -> in_domainslib l ());
      ("thread", fun l -> thread l ());
    ]
  in
  let ledgers = List.mapi (fun i _ -> ledger i) groups in
  let running = Atomic.make (List.length groups) in
  let body (_, f) l () =
    (try f l with e -> fail "a host ended with %s" (Printexc.to_string e));
    Atomic.decr running
  in
  let bodies = List.map2 body groups ledgers in
  (* Half of them run on the threads of this domain, and half on those of another one. *)
  let here, there =
    List.partition
      (fun (i, _) -> i mod 2 = 0)
      (List.mapi (fun i b -> (i, b)) bodies)
  in
  let start_all = List.map (fun (_, body) -> Thread.create body ()) in
  let domain =
    Domain.spawn (fun () -> List.iter Thread.join (start_all there))
  in
  let threads = start_all here in
  let main = ledger 1000 in
  (* This makes sure that no task waits forever for a value or for room. *)
  while Atomic.get running > 0 do
    Array.iter
      (fun box ->
        match Mvar.try_take box with
        | Some v -> received main v
        | None ->
            let v = fresh () in
            if Mvar.try_put box v then sent main v)
      boxes;
    Unix.sleepf 0.
  done;
  List.iter Thread.join threads;
  Domain.join domain;
  let all = main :: ledgers in
  let left =
    Array.to_list boxes
    |> List.filter_map (fun box ->
        if Mvar.waiters box <> 0 then fail "a waiter stays";
        let left = Mvar.try_take box in
        if not (Mvar.is_empty box) then fail "a box is held at rest";
        left)
  in
  let sorted = List.sort Int.compare in
  let sent = sorted (List.concat_map (fun l -> l.sent) all) in
  let received = sorted (left @ List.concat_map (fun l -> l.received) all) in
  if sent <> received then
    fail "%d values sent, %d received or left: not the same" (List.length sent)
      (List.length received);
  List.iter2
    (fun (name, _) l ->
      Printf.printf "%-24s %8d operations %8d tasks cancelled\n" name
        l.operations l.waits_cancelled)
    groups ledgers;
  Printf.printf "%d values\n" (List.length sent)
