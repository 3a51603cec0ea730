(* Tasks on two domains use the same structures, cancel and close, while another thread takes
   snapshots. The numbers of each snapshot fit together, none shrinks, and in the end they are exactly
   what the tasks have counted. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

type counts = {
  mutable locks : int;
  mutable permits : int;
  mutable resources : int;
  mutable modified : int;
  mutable reads : int;
}

type shared = {
  mutex : Mutex.t;
  rwlock : Rwlock.t;
  semaphore : Semaphore.Counting.t;
  pool : unit Pool.t;
  box : int Mvar.t;
  letters : int Mailbox.t Atomic.t;
  stream : int Stream.t;
  gate : unit Mvar.t;
}

let shared () =
  {
    mutex = Debug.named "storm" (Mutex.create ());
    rwlock = Rwlock.create ~name:"storm" ();
    semaphore = Debug.named "storm" (Semaphore.Counting.make 2);
    pool = Pool.create ~name:"storm" 2 ignore;
    box = Mvar.create ~name:"storm" 0;
    letters = Atomic.make (Mailbox.create ~name:"storm" ());
    stream = Debug.named "storm" (Stream.create 3);
    gate = Mvar.create_empty ~name:"storm" ();
  }

(* --- What the tasks do ----------------------------------------------------------- *)

exception Failed

let sometimes_fails random = if Random.State.int random 10 = 0 then raise Failed

let yield_sometimes random =
  match Random.State.int random 4 with
  | 0 -> Concord_fifo.yield ()
  | 1 -> Thread.yield ()
  | _ -> ()

(* Each counts what it has held, however that ends. *)
let step shared counts random =
  let hold () =
    yield_sometimes random;
    sometimes_fails random
  in
  match Random.State.int random 9 with
  | 0 ->
      Mutex.protect shared.mutex (fun () ->
          counts.locks <- counts.locks + 1;
          hold ())
  | 1 ->
      Semaphore.Counting.with_permit shared.semaphore (fun () ->
          counts.permits <- counts.permits + 1;
          hold ())
  | 2 ->
      Pool.use shared.pool (fun () ->
          counts.resources <- counts.resources + 1;
          hold ())
  | 3 ->
      Mvar.modify shared.box (fun n ->
          counts.modified <- counts.modified + 1;
          hold ();
          (n + 1, ()))
  | 4 ->
      Rwlock.read shared.rwlock (fun () ->
          counts.reads <- counts.reads + 1;
          hold ())
  | (5 | 6) as n -> (
      (* Another task may close it meanwhile. *)
      let letters = Atomic.get shared.letters in
      try
        if n = 5 then Mailbox.add letters 1
        else ignore (Mailbox.take letters : int)
      with Mailbox.Closed -> ())
  | 7 ->
      if Random.State.bool random then Stream.add shared.stream 1
      else ignore (Stream.take shared.stream : int)
  | _ ->
      (* One of the two sides is withdrawn. *)
      ignore
        (Event.sync_before 0.0005
           (Event.choose
              [ Mvar.take_evt shared.gate; Mvar.put_evt shared.gate () ])
          : unit option)

(* Closed mailboxes are replaced by new ones of the same name. *)
let close_sometimes shared random =
  if Random.State.int random 20 = 0 then begin
    let before =
      Atomic.exchange shared.letters (Mailbox.create ~name:"storm" ())
    in
    Mailbox.close before
  end

let worker shared ~steps ~seed =
  let counts =
    { locks = 0; permits = 0; resources = 0; modified = 0; reads = 0 }
  in
  let task n =
    let random = Random.State.make [| seed; n |] in
    for _ = 1 to steps do
      (try
         ignore
           (Tasks.with_timeout 0.0005 (fun () -> step shared counts random)
             : unit option)
       with Failed -> ());
      close_sometimes shared random
    done
  in
  Concord_fifo.run (fun () ->
      List.init 8 (fun n -> Concord_fifo.fork (fun () -> task n))
      |> List.iter Concord_fifo.join);
  counts

(* --- What each snapshot says ------------------------------------------------------- *)

let grows times =
  ignore
    (List.fold_left
       (fun before (_, n) ->
         if n < before then Alcotest.failf "%d after %d" n before;
         n)
       0 times
      : int)

let consistent ~before (now : Metrics.snapshot) =
  let positive what n = if n < 0 then Alcotest.failf "%s: %d" what n in
  let at_least what n before =
    if n < before then Alcotest.failf "%s fell from %d to %d" what before n
  in
  List.iter
    (fun (w : Metrics.wait) ->
      positive w.operation w.waiting;
      grows w.wait_times;
      at_least "buckets" w.waits (List.assoc infinity w.wait_times);
      positive "time" (compare w.waited 0.);
      List.iter
        (fun (b : Metrics.wait) ->
          if (b.operation, b.structure) = (w.operation, w.structure) then
            at_least w.operation w.waits b.waits)
        before.Metrics.waits)
    now.waits;
  List.iter
    (fun (h : Metrics.hold) ->
      grows h.hold_times;
      List.iter
        (fun (b : Metrics.hold) ->
          if (b.kind, b.structure) = (h.kind, h.structure) then
            at_least h.kind h.holds b.holds)
        before.holds)
    now.holds;
  List.iter
    (fun (s : Metrics.structure) ->
      let some = Option.iter (positive s.kind) in
      some s.length;
      some s.used;
      match (s.used, s.limit) with
      | Some used, Some limit when used > limit ->
          Alcotest.failf "%s: %d of %d are used" s.kind used limit
      | _ -> ())
    now.structures

let holds (now : Metrics.snapshot) kind =
  List.find_opt
    (fun (h : Metrics.hold) -> h.kind = kind && h.structure = "storm")
    now.holds
  |> Option.fold ~none:0 ~some:(fun (h : Metrics.hold) -> h.holds)

let storm () =
  Metrics.start ();
  let shared = shared () and over = Atomic.make false in
  let steps =
    if Race.long then 20_000 else if instrumented then 300 else 2_000
  in
  let snapshots = ref 0 in
  let reader () =
    let rec read before =
      let now = Metrics.snapshot () in
      consistent ~before now;
      ignore (Metrics.to_openmetrics now : string);
      incr snapshots;
      Thread.yield ();
      if not (Atomic.get over) then read now
    in
    read { waits = []; holds = []; structures = [] }
  in
  let finish = thread reader in
  let a, b =
    Fun.protect
      (fun () ->
        let other =
          Domain.spawn (fun () -> worker shared ~steps ~seed:(Race.seed + 1))
        in
        let a = worker shared ~steps ~seed:Race.seed in
        (a, Domain.join other))
      ~finally:(fun () -> Atomic.set over true)
  in
  finish ();
  yes "it was read" (!snapshots > 1);
  let now = Metrics.snapshot () in
  List.iter
    (fun (w : Metrics.wait) -> int (w.operation ^ " waits") 0 w.waiting)
    now.waits;
  yes "tasks have waited"
    (List.exists (fun (w : Metrics.wait) -> w.waits > 0) now.waits);
  let held kind f = int kind (f a + f b) (holds now kind) in
  held "mutex" (fun c -> c.locks);
  held "semaphore" (fun c -> c.permits);
  held "pool" (fun c -> c.resources);
  held "mvar" (fun c -> c.modified);
  held "rwlock" (fun c -> c.reads);
  List.iter
    (fun (s : Metrics.structure) ->
      match s.kind with
      | "semaphore" | "pool" ->
          Alcotest.(check (option int)) s.kind (Some 0) s.used
      | _ -> ())
    now.structures;
  ignore (Sys.opaque_identity shared)

let () = run "metrics in a storm" [ ("storm", [ test "storm" storm ]) ]
