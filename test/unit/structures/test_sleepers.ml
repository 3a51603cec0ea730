(* A sleeping thread may be overtaken, so that many tasks can share a structure without
   waiting for it to wake up. *)

open Concord
open Concord_test_support
open Check

type lock =
  | Lock : {
      name : string;
      create : in_order:bool -> 't;
      take : 't -> unit;
      try_take : 't -> bool;
      give : 't -> unit;
      waiters : 't -> int;
    }
      -> lock

let locks =
  [
    Lock
      {
        name = "Mutex";
        create =
          (fun ~in_order ->
            if in_order then Mutex.create_in_order () else Mutex.create ());
        take = Mutex.lock;
        try_take = Mutex.try_lock;
        give = Mutex.unlock;
        waiters = Mutex.waiters;
      };
    (let open Semaphore.Counting in
     Lock
       {
         name = "Semaphore.Counting";
         create =
           (fun ~in_order -> if in_order then make_in_order 1 else make 1);
         take = acquire;
         try_take = try_acquire;
         give = release;
         waiters;
       });
    (let open Semaphore.Binary in
     Lock
       {
         name = "Semaphore.Binary";
         create =
           (fun ~in_order -> if in_order then make_in_order true else make true);
         take = acquire;
         try_take = try_acquire;
         give = release;
         waiters;
       });
    (let open Rwlock in
     Lock
       {
         name = "Rwlock";
         create =
           (fun ~in_order -> if in_order then create_in_order () else create ());
         take = write_lock;
         try_take = try_write_lock;
         give = write_unlock;
         waiters;
       });
    (let open Rwlock in
     Lock
       {
         name = "Rwlock, readers wait";
         create =
           (fun ~in_order -> if in_order then create_in_order () else create ());
         take = read_lock;
         try_take = try_write_lock;
         give =
           (fun t -> try write_unlock t with Sys_error _ -> read_unlock t);
         waiters;
       });
  ]

(* The thread takes the lock, and gives it back when [go] is set. *)
let rounds (Lock lock) ~in_order round =
  let t = lock.create ~in_order and partner = Partner.thread () in
  let once () =
    let go = Atomic.make false in
    if not (lock.try_take t) then lock.take t;
    Partner.ask partner (fun () ->
        lock.take t;
        while not (Atomic.get go) do
          Thread.yield ()
        done;
        lock.give t);
    eventually "the thread waits" (fun () -> lock.waiters t = 1);
    lock.give t;
    let overtakes = lock.try_take t in
    if overtakes then lock.give t;
    Atomic.set go true;
    Partner.join partner;
    overtakes
  in
  round once;
  Partner.stop partner

let is_overtaken lock () =
  rounds lock ~in_order:false @@ fun once ->
  eventually ~pause:ignore "it is overtaken" once

let is_not_overtaken lock () =
  rounds lock ~in_order:true @@ fun once ->
  for _ = 1 to 20 do
    no "it is overtaken" (once ())
  done

(* The sleeping thread must get the value that was put for it. *)
let own_value () =
  let t = Mvar.create_empty () and partner = Partner.thread () in
  for i = 1 to 20 do
    Partner.ask partner (fun () -> Mvar.put t (-Mvar.take t));
    eventually "the thread waits" (fun () -> Mvar.waiters t = 1);
    Mvar.put t i;
    int "an answer" (-i) (Mvar.take t);
    Partner.join partner
  done;
  Partner.stop partner

let is_modified_in_turn () =
  let t = Mvar.create 0 in
  let add () =
    for _ = 1 to 5_000 do
      Mvar.modify t (fun n ->
          Thread.yield ();
          (n + 1, ()))
    done
  in
  List.iter Thread.join (List.init 4 (fun _ -> Thread.create add ()));
  int "all were counted" 20_000 (Mvar.take t)

module Nudge = Concord__core__Nudge

let patience () =
  let since = Nudge.now_ns () in
  let may () = Nudge.may_overtake ~overtaken:(Nudge.most - 1) ~since in
  let at_once = may () in
  (* The machine may have been busy meanwhile. *)
  if Nudge.now_ns () - since < Nudge.patience_ns then yes "at once" at_once;
  eventually ~pause:ignore "it is over" (fun () -> not (may ()));
  yes "not too early" (Nudge.now_ns () - since > Nudge.patience_ns);
  no "too many"
    (Nudge.may_overtake ~overtaken:Nudge.most ~since:(Nudge.now_ns ()))

(* --- How many overtake, and for how long ------------------------------------------------ *)

(* The thread waits for the lock, which the caller has. It belongs to the same domain, so it
   runs only while the caller yields, or when the system has interrupted the caller. *)
let while_it_waits (Lock lock) f =
  let t = lock.create ~in_order:false and partner = Partner.thread () in
  let got = Atomic.make false in
  if not (lock.try_take t) then lock.take t;
  Partner.ask partner (fun () ->
      lock.take t;
      Atomic.set got true;
      lock.give t);
  let waits () = lock.waiters t = 1 in
  eventually "the thread waits" waits;
  f
    ~try_take:(fun () -> lock.try_take t)
    ~give:(fun () -> lock.give t)
    ~waits
    ~got:(fun () -> Atomic.get got);
  Partner.join partner;
  Partner.stop partner

(* Each time that the thread comes, it finds the lock taken. The tasks that have overtaken it
   before that still count. *)
let in_vain lock () =
  let most = ref 0 in
  for _ = 1 to Race.often 20 do
    while_it_waits lock @@ fun ~try_take ~give ~waits ~got ->
    let overtaken = ref 0 in
    let overtakes () =
      (not (got ()))
      && try_take ()
      &&
      (* it may have had the lock in between *)
      if got () then begin
        give ();
        false
      end
      else begin
        incr overtaken;
        true
      end
    in
    let rec some n =
      n > 0 && overtakes ()
      && (n = 1
         ||
         (give ();
          some (n - 1)))
    in
    let rec go_on () =
      give ();
      if some 30 then begin
        eventually ~pause:Thread.yield "it has come in vain" waits;
        go_on ()
      end
    in
    go_on ();
    eventually ~pause:Thread.yield "the thread has it" got;
    most := Int.max !most !overtaken
  done;
  if !most > Nudge.most then Alcotest.failf "%d have overtaken it" !most

(* Although the lock is free, a task that comes late doesn't overtake. The thread can't come
   before, or it has had the lock. *)
let too_late lock () =
  for _ = 1 to Race.often 5 do
    while_it_waits lock @@ fun ~try_take ~give ~waits:_ ~got ->
    give ();
    let since = Nudge.now_ns () in
    while Nudge.now_ns () - since <= Nudge.patience_ns do
      Domain.cpu_relax ()
    done;
    let had = got () in
    if try_take () then begin
      let has = had || got () in
      give ();
      yes "the thread had it before" has
    end;
    eventually ~pause:Thread.yield "the thread has it" got
  done

(* --- A queue of a mutex and a condition ------------------------------------------------ *)

(* A queue as users write it with Stdlib. *)
let queue ~items ~capacity work =
  let m = Mutex.create () and q = Queue.create () in
  let not_empty = Condition.create () and not_full = Condition.create () in
  let produce () =
    for i = 1 to items do
      Mutex.protect m (fun () ->
          while Queue.length q = capacity do
            Condition.wait not_full m
          done;
          Queue.add i q;
          Condition.signal not_empty)
    done
  and consume () =
    for _ = 1 to items do
      Mutex.protect m (fun () ->
          while Queue.is_empty q do
            Condition.wait not_empty m
          done;
          work (Queue.take q);
          Condition.signal not_full)
    done
  in
  List.init 8 (fun i -> Thread.create (if i < 4 then produce else consume) ())

(* Counts how often the calling thread has fallen asleep, if the system provides this
   number. *)
let sleeps () =
  Option.value ~default:0
    (Concord_test_proc.number "thread-self/status" "voluntary_ctxt_switches")

(* If each unlock handed the mutex to a sleeping thread, each item would cost at least one
   sleep. *)
let no_convoy () =
  let items = 25_000 and slept = Atomic.make 0 and sum = Atomic.make 0 in
  let work i =
    ignore (Atomic.fetch_and_add sum i : int);
    if i = items then ignore (Atomic.fetch_and_add slept (sleeps ()) : int)
  in
  List.iter Thread.join (queue ~items ~capacity:100 work);
  int "all came" (4 * items * (items + 1) / 2) (Atomic.get sum);
  yes "few fell asleep" (Atomic.get slept < items)

let () =
  let each what check =
    ( what,
      List.map (fun (Lock { name; _ } as lock) -> test name (check lock)) locks
    )
  in
  run "sleepers"
    [
      each "a thread that sleeps is overtaken" is_overtaken;
      each "in order it is not" is_not_overtaken;
      each "the count goes on when it comes in vain" in_vain;
      each "not after a millisecond" too_late;
      ( "many threads",
        [
          test "Mvar.modify" is_modified_in_turn;
          test "how long" patience;
          test "a task that puts a value does not take it back" own_value;
        ]
        @ Concord_test_proc.only "how often threads sleep"
            [ test "no convoy at a queue" no_convoy ] );
    ]
