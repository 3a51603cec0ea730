(* Tasks on two domains lock and unlock everything that can be locked. They are cancelled all
   the time, both while they wait and while they hold a lock. No two tasks may be where only
   one is allowed, no task waits forever, and at rest everything is free. *)

open Concord
open Concord_test_support.Race
open Crew

(* --- What is guarded --------------------------------------------------------- *)

(* [count] isn't atomic, so only a task that is alone there may change it. *)
type area = {
  limit : int;
  inside : int Atomic.t;
  mutable count : int;
  entered : int Atomic.t;
}

let area limit =
  { limit; inside = Atomic.make 0; count = 0; entered = Atomic.make 0 }

let now_and_then_yield crew = if at_random crew 3 then yield crew

(* The task may be cancelled in there. *)
let visit crew area =
  if Atomic.fetch_and_add area.inside 1 >= area.limit then
    fail "more than %d are inside" area.limit;
  Fun.protect ~finally:(fun () -> Atomic.decr area.inside) @@ fun () ->
  let count = area.count in
  now_and_then_yield crew;
  if area.limit = 1 then begin
    area.count <- count + 1;
    Atomic.incr area.entered
  end

(* One way to enter, which says whether it succeeded, and the way to leave. *)
type way = { enter : unit -> bool; leave : unit -> unit; area : area }

let surely f () =
  f ();
  true

let go_in crew { enter; leave; area } =
  if enter () then Fun.protect ~finally:leave (fun () -> visit crew area)

(* --- The locks --------------------------------------------------------------- *)

type lock = { ways : way array; at_rest : unit -> bool }

(* [event ()] twice in one choice. The alternative that isn't performed must give nothing back. *)
let twice event () = Event.select [ event; Event.never; event ]
let exact area = area.count = Atomic.get area.entered

let mutex () =
  let t = Mutex.create () and area = area 1 in
  let way enter = { enter; leave = (fun () -> Mutex.unlock t); area } in
  {
    ways =
      [|
        way (surely (fun () -> Mutex.lock t));
        way (surely (fun () -> Event.sync (Mutex.lock_evt t)));
        way (surely (twice (Mutex.lock_evt t)));
        way (fun () -> Mutex.try_lock t);
      |];
    at_rest =
      (fun () -> Mutex.waiters t = 0 && (not (Mutex.is_locked t)) && exact area);
  }

let counting n () =
  let open Semaphore.Counting in
  let t = make n and area = area n in
  let way enter = { enter; leave = (fun () -> release t); area }
  and way_n enter = { enter; leave = (fun () -> release_n t n); area } in
  {
    ways =
      [|
        way (surely (fun () -> acquire t));
        way (surely (fun () -> Event.sync (acquire_evt t)));
        way (surely (twice (acquire_evt t)));
        way (fun () -> try_acquire t);
        way_n (surely (fun () -> acquire_n t n));
        way_n (surely (twice (acquire_n_evt t n)));
        way_n (fun () -> try_acquire_n t n);
      |];
    at_rest = (fun () -> waiters t = 0 && get_value t = n && exact area);
  }

let binary () =
  let open Semaphore.Binary in
  let t = make true and area = area 1 in
  let way enter = { enter; leave = (fun () -> release t); area } in
  {
    ways =
      [|
        way (surely (fun () -> acquire t));
        way (surely (fun () -> Event.sync (acquire_evt t)));
        way (surely (twice (acquire_evt t)));
        way (fun () -> try_acquire t);
      |];
    at_rest =
      (fun () ->
        waiters t = 0 && try_acquire t && (not (try_acquire t)) && exact area);
  }

(* Readers count themselves, and a writer checks that there are none. *)
let rwlock prefer () =
  let t = Rwlock.create ~prefer () in
  let writers = area 1 and readers = area max_int in
  let nobody what area =
    if Atomic.get area.inside > 0 then fail "another task %s meanwhile" what
  in
  let write enter =
    let enter () =
      enter ()
      && begin
        nobody "reads" readers;
        true
      end
    and leave () =
      nobody "reads" readers;
      Rwlock.write_unlock t
    in
    { enter; leave; area = writers }
  and read enter =
    let enter () =
      enter ()
      && begin
        nobody "writes" writers;
        true
      end
    and leave () =
      nobody "writes" writers;
      Rwlock.read_unlock t
    in
    { enter; leave; area = readers }
  in
  let either () =
    (* The choice returns the unlock function of the lock that it got. *)
    let unlock =
      Event.select
        [
          Event.wrap (Rwlock.write_lock_evt t) (fun () -> Rwlock.write_unlock);
          Event.wrap (Rwlock.read_lock_evt t) (fun () -> Rwlock.read_unlock);
        ]
    in
    unlock t;
    false
  in
  {
    ways =
      [|
        write (surely (fun () -> Rwlock.write_lock t));
        write (surely (twice (Rwlock.write_lock_evt t)));
        write (fun () -> Rwlock.try_write_lock t);
        write either;
        read (surely (fun () -> Rwlock.read_lock t));
        read (surely (fun () -> Rwlock.read_lock t));
        read (surely (fun () -> Event.sync (Rwlock.read_lock_evt t)));
        read (surely (twice (Rwlock.read_lock_evt t)));
        read (fun () -> Rwlock.try_read_lock t);
      |];
    at_rest =
      (fun () ->
        Rwlock.waiters t = 0 && Rwlock.try_write_lock t && exact writers);
  }

let contend make ~times hosts =
  let lock = make () in
  let rec work crew n () =
    if n > 0 then begin
      ignore (attempt crew (fun () -> go_in crew (any crew lock.ways)));
      work crew (n - 1) ()
    end
  in
  let tally =
    storm hosts (fun crew -> List.init 8 (fun _ -> work crew times))
  in
  if not (lock.at_rest ()) then fail "it is not free at rest";
  tally

let () =
  let times = 1_000 in
  rounds
    (if long then 1_000 else 3)
    [
      ("mutex", contend mutex ~times);
      ("semaphore of 3", contend (counting 3) ~times);
      ("semaphore of 1", contend (counting 1) ~times);
      ("binary semaphore", contend binary ~times);
      ("rwlock", contend (rwlock `Nobody) ~times);
      ("rwlock, writers", contend (rwlock `Writers) ~times);
    ]
