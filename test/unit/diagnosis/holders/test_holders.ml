open Concord
open Concord.Tools
open Concord_test_support
open Check
open Held

let me what name = strings what [ this_thread () ] (holders name)

let mutex () =
  let m = Mutex.create () in
  Debug.name m "m";
  let waiter () = Mutex.protect m ignore in
  let release () = Mutex.unlock m in
  Mutex.lock m;
  while_waiting "m" waiter ~release (fun () -> me "lock" "m");
  yes "try_lock" (Mutex.try_lock m);
  while_waiting "m" waiter ~release (fun () -> me "try_lock" "m");
  Event.select [ Mutex.lock_evt m; Promise.await_evt (Promise.create ()) ];
  while_waiting "m" waiter ~release (fun () -> me "lock_evt" "m");
  let leave = Promise.create () in
  let protect () = Mutex.protect m (fun () -> Promise.await leave) in
  let holder = Thread.create protect () in
  eventually "protect" (fun () -> Mutex.is_locked m);
  while_waiting "m" waiter
    ~release:(fun () -> Promise.fill leave ())
    (fun () ->
      strings "protect"
        [ Printf.sprintf "thread %d" (Thread.id holder) ]
        (holders "m"));
  Thread.join holder

(* The task that was handed the mutex is the owner, whichever operation it waited in. *)
let handed_over () =
  let take name lock =
    let m = Mutex.create () in
    Debug.name m name;
    Mutex.lock m;
    let has = Promise.create () and leave = Promise.create () in
    let next =
      Thread.create
        (fun () ->
          lock m;
          Promise.fill has ();
          Promise.await leave;
          Mutex.unlock m)
        ()
    in
    eventually_waits name;
    Mutex.unlock m;
    Promise.await has;
    let waiter () = Mutex.protect m ignore in
    while_waiting name waiter
      ~release:(fun () -> Promise.fill leave ())
      (fun () ->
        strings name
          [ Printf.sprintf "thread %d" (Thread.id next) ]
          (holders name));
    Thread.join next
  in
  take "locked" Mutex.lock;
  take "event" (fun m -> Event.sync (Mutex.lock_evt m));
  take "choice" (fun m ->
      Event.select [ Mutex.lock_evt m; Promise.await_evt (Promise.create ()) ])

let condition_with signal name () =
  let m = Mutex.create () and c = Condition.create () in
  Debug.name m name;
  Debug.name c (name ^ "'s condition");
  let has = Promise.create () and leave = Promise.create () in
  let sleeper =
    Thread.create
      (fun () ->
        Mutex.lock m;
        Condition.wait c m;
        Promise.fill has ();
        Promise.await leave;
        Mutex.unlock m)
      ()
  in
  eventually_waits (name ^ "'s condition");
  no "unlocked meanwhile" (Mutex.is_locked m);
  signal c m;
  Promise.await has;
  while_waiting name
    (fun () -> Mutex.protect m ignore)
    ~release:(fun () -> Promise.fill leave ())
    (fun () ->
      strings "the one that waited"
        [ Printf.sprintf "thread %d" (Thread.id sleeper) ]
        (holders name));
  Thread.join sleeper

(* The mutex is free when the task continues. *)
let free c _ = Condition.signal c

(* The task has to wait for the mutex, which is then handed to it. *)
let given c m =
  Mutex.lock m;
  Condition.signal c;
  eventually "it waits again" (fun () -> Mutex.waiters m = 1);
  Mutex.unlock m

let rwlock () =
  let t = Rwlock.create ~name:"rw" () in
  let writer () = Rwlock.write t ignore and reader () = Rwlock.read t ignore in
  Rwlock.write_lock t;
  while_waiting "rw" reader
    ~release:(fun () -> Rwlock.write_unlock t)
    (fun () -> me "a writer" "rw");
  Rwlock.read_lock t;
  let leave = Promise.create () in
  let other =
    Thread.create (fun () -> Rwlock.read t (fun () -> Promise.await leave)) ()
  in
  eventually "two read" (fun () -> List.length (Rwlock.holders t) = 2);
  while_waiting "rw" writer
    ~release:(fun () ->
      Promise.fill leave ();
      Rwlock.read_unlock t)
    (fun () ->
      strings "both readers"
        (List.sort compare
           [ this_thread (); Printf.sprintf "thread %d" (Thread.id other) ])
        (List.sort compare (holders "rw")));
  Thread.join other;
  Event.select [ Rwlock.write_lock_evt t; Event.never ];
  while_waiting "rw" reader
    ~release:(fun () -> Rwlock.write_unlock t)
    (fun () -> me "an event" "rw");
  int "nobody" 0 (List.length (Rwlock.holders t));
  Rwlock.write_lock t;
  let held = Rwlock.holders t in
  Rwlock.downgrade t;
  yes "the same task reads" (List.equal ( == ) held (Rwlock.holders t));
  Rwlock.read_unlock t;
  int "no task reads" 0 (List.length (Rwlock.holders t));
  Rwlock.write t (fun () ->
      let held = Rwlock.holders t in
      Rwlock.downgrade t;
      int "one holds it" 1 (List.length held);
      yes "it reads in its bracket" (List.equal ( == ) held (Rwlock.holders t)));
  int "the bracket has ended" 0 (List.length (Rwlock.holders t));
  Rwlock.write_lock t;
  Thread.join (Thread.create Rwlock.write_unlock t);
  int "unlocked by another" 0 (List.length (Rwlock.holders t));
  Rwlock.read_lock t;
  Rwlock.read_lock t;
  Thread.join (Thread.create Rwlock.read_unlock t);
  strings "one is left"
    [ this_thread () ]
    (List.map
       (fun (holder : Concord__core__Holder.t) -> holder.by.name)
       (Rwlock.holders t))

let mvar () =
  let t = Mvar.create ~name:"box" 1 in
  let take () = ignore (Mvar.read t : int) in
  let modify name modify =
    let leave = Promise.create () in
    let holder =
      Thread.create
        (fun () ->
          modify (fun v ->
              Promise.await leave;
              (v, ())))
        ()
    in
    eventually "held" (fun () -> Mvar.is_empty t);
    while_waiting "box" take
      ~release:(fun () -> Promise.fill leave ())
      (fun () ->
        strings name
          [ Printf.sprintf "thread %d" (Thread.id holder) ]
          (holders "box"));
    Thread.join holder
  in
  modify "modify" (Mvar.modify t);
  modify "modify_evt" (fun f -> Event.sync (Mvar.modify_evt t f));
  let fails _ = raise Exit in
  raises "what it raises" Exit (fun () -> Mvar.modify t fails);
  raises "what the event raises" Exit (fun () ->
      Event.sync (Mvar.modify_evt t fails));
  int "the old value" 1 (Mvar.take t);
  while_waiting "box" take
    ~release:(fun () -> Mvar.put t 2)
    (fun () -> strings "nobody" [] (holders "box"))

let lazy_value name wait ~begun ~leave t =
  Debug.name t name;
  let forcer = Thread.create (fun () -> int "forced" 42 (Lazy.force t)) () in
  Promise.await begun;
  while_waiting name
    (fun () -> int "the same" 42 (wait t))
    ~release:(fun () -> Promise.fill leave ())
    (fun () ->
      strings "the forcer"
        [ Printf.sprintf "thread %d" (Thread.id forcer) ]
        (holders name));
  Thread.join forcer

let new_lazy_value name wait () =
  let begun = Promise.create () and leave = Promise.create () in
  lazy_value name wait ~begun ~leave (lazily begun leave)

let old_lazy_value () =
  lazy_value "early" Lazy.force ~begun:Early.begun ~leave:Early.leave
    Early.lazily

(* The holder is the task that took over the computation. *)
let inherited () =
  let leave = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await leave) in
  Debug.name t "inherited";
  let first = Hand.start (fun () -> Lazy.force t) in
  let next = Thread.create Lazy.force t in
  eventually_waits "inherited";
  Hand.stop first;
  Hand.settle ();
  eventually "it is given" (fun () -> waits_in "inherited" = []);
  while_waiting "inherited"
    (fun () -> Lazy.force t)
    ~release:(fun () -> Promise.fill leave ())
    (fun () ->
      strings "the next one"
        [ Printf.sprintf "thread %d" (Thread.id next) ]
        (holders "inherited"));
  Thread.join next

(* A lazy value, a lock and a box form a cycle. Each is held by a task that waits for the
   next. *)
let cycle () =
  let m = Mutex.create ()
  and rw = Rwlock.create ~name:"cycle's lock" ()
  and box = Mvar.create ~name:"cycle's box" () in
  Debug.name m "cycle's mutex";
  let ready = Latch.create 3 in
  let go f () =
    Latch.count_down ready;
    Latch.await ready;
    f ()
  in
  let lazily =
    Lazy.from_fun (go (fun () -> Mvar.modify box (fun () -> ((), ()))))
  in
  Debug.name lazily "cycle's lazy";
  let a = Thread.create Lazy.force lazily in
  let b =
    Thread.create
      (fun () ->
        Mvar.modify box (fun () ->
            go (fun () -> Rwlock.read rw ignore) ();
            ((), ())))
      ()
  in
  let c =
    Thread.create
      (fun () ->
        try Rwlock.write rw (go (fun () -> Lazy.force lazily))
        with Sys_error _ -> (* unlocked by the task that broke the cycle *) ())
      ()
  in
  let lengths () = List.map List.length (Debug.report ()).cycles in
  eventually "a cycle of three" (fun () -> lengths () = [ 3 ]);
  let report = Debug.to_string (Debug.report ()) in
  List.iter
    (fun part -> yes part (contains report part))
    [
      "Mvar.modify";
      "Rwlock.read_lock";
      "Lazy.force";
      "\"cycle's lock\"";
      "held by";
    ];
  (* Unlocking another task's lock is a misuse, but it breaks the cycle. *)
  Rwlock.write_unlock rw;
  List.iter Thread.join [ a; b; c ]

(* [hold] is a bracket. After it, the task isn't a holder any more, even if another task has
   released the semaphore meanwhile. *)
let semaphore () =
  let of_one name made ~permits ~try_acquire ~acquire ~release ~hold =
    let t = Debug.named name (made ()) in
    let waiter () =
      acquire t;
      release t
    in
    hold t (fun () ->
        while_waiting name waiter
          ~release:(fun () -> release t)
          (fun () -> me "bracket" name));
    for _ = 1 to permits do
      yes "acquired" (try_acquire t)
    done;
    no "all are acquired" (try_acquire t);
    while_waiting name waiter
      ~release:(fun () -> release t)
      (fun () -> strings "no bracket" [] (holders name))
  in
  let open Semaphore in
  of_one "counting" ~permits:2
    (fun () -> Counting.make 1)
    ~try_acquire:Counting.try_acquire ~acquire:Counting.acquire
    ~release:Counting.release ~hold:Counting.with_permit;
  of_one "binary" ~permits:1
    (fun () -> Binary.make true)
    ~try_acquire:Binary.try_acquire ~acquire:Binary.acquire
    ~release:Binary.release ~hold:Binary.with_permit

(* Two of three permits are free, but a task waits for all three. *)
let all_permits () =
  let open Semaphore.Counting in
  let t = Debug.named "three" (make 3) in
  with_permit t @@ fun () ->
  while_waiting "three"
    (fun () -> acquire_n t 3)
    ~release:(fun () -> release t)
    (fun () -> me "bracket" "three")

(* A task that holds two of three permits is the only holder. *)
let two_permits () =
  let open Semaphore.Counting in
  let t = Debug.named "two of three" (make 3) in
  with_permits t 2 @@ fun () ->
  while_waiting "two of three"
    (fun () -> acquire_n t 2)
    ~release:(fun () -> release t)
    (fun () -> me "bracket" "two of three")

(* A resource is used by one task after the other. Each is a holder only while it uses it. *)
let pool () =
  let t = Pool.create ~name:"resources" 1 ignore in
  let use () = Pool.use t ignore in
  in_thread use;
  in_thread use;
  let lease = Pool.obtain t in
  let shows state =
    me "the user" "resources";
    strings "state" [ state ] [ (target "resources").state ]
  in
  let is_refused () = raises "closed" Pool.Closed use in
  while_waiting "resources" is_refused
    ~release:(fun () -> Pool.close t)
    (fun () -> shows "1 in use of 1");
  while_waiting "resources"
    (fun () -> Pool.await_closed t)
    ~release:(fun () -> Pool.give_back ~keep:true lease)
    (fun () -> shows "1 in use of 1, closed")

let () =
  run "holders"
    [
      ( "holders",
        [
          test "mutex" mutex;
          test "handed over" handed_over;
          test "relocked" (condition_with free "relocked");
          test "given again" (condition_with given "given again");
          test "rwlock" rwlock;
          test "semaphore" semaphore;
          test "semaphore, all permits" all_permits;
          test "semaphore, two permits" two_permits;
          test "pool" pool;
          test "mvar" mvar;
          test "lazy" (new_lazy_value "lazy" Lazy.force);
          test "lazy, its event"
            (new_lazy_value "lazy's event" (fun t ->
                 Event.sync (Lazy.await_evt t)));
          test "lazy, created before" old_lazy_value;
          test "lazy, given" inherited;
          test "cycle" cycle;
        ] );
    ]
