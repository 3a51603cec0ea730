(* Tasks of a pool have no identity of their own. The library knows them only while they
   hold something within a function such as [Mutex.protect]. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let () = Debug.keep_waits ()

let named name =
  let m = Mutex.create () in
  Debug.name m name;
  m

let cycles () = (Debug.report ()).cycles

(* A system thread holds [a] and waits for [b]. A task of the pool does the reverse. *)
let cycle ~inner () =
  Attached_pools.with_pool @@ fun pool ->
  let a = named "a" and b = named "b" in
  let ready = Latch.create 2 in
  let both () =
    Latch.count_down ready;
    Latch.await ready
  in
  let thread =
    Thread.create
      (fun () ->
        Mutex.protect a (fun () ->
            both ();
            Mutex.protect b ignore))
      ()
  in
  let job =
    Concord_domainslib.submit pool (fun () ->
        Mutex.protect b (fun () ->
            both ();
            inner a))
  in
  eventually "a cycle of two" (fun () ->
      List.map List.length (cycles ()) = [ 2 ]);
  (* Unlocking another task's mutex is a misuse, but it breaks the cycle. *)
  Mutex.unlock a;
  ignore (Promise.await_result job : (unit, exn) result);
  Thread.join thread

(* The inner [protect] must keep the identity that the outer one gave the task. *)
let nested () =
  Attached_pools.with_pool @@ fun pool ->
  let a = named "a" and b = named "b" in
  Concord_domainslib.run pool (fun () ->
      Mutex.protect a (fun () ->
          Mutex.protect b (fun () ->
              yes "locked again by its holder"
                (match Mutex.protect a ignore with
                | () -> false
                | exception Sys_error _ -> true))))

exception Boom

(* The task's effects still reach its host, and exceptions keep their backtraces. *)
let transparent () =
  Attached_pools.with_pool @@ fun pool ->
  let m = named "m" and rw = Rwlock.create () and box = Mvar.create 0 in
  let promise = Promise.create () in
  let job =
    Concord_domainslib.submit pool (fun () ->
        Mutex.protect m @@ fun () ->
        Rwlock.read rw @@ fun () ->
        Mvar.modify box @@ fun n ->
        let lazily = Lazy.from_fun (fun () -> Promise.await promise + n) in
        (Lazy.force lazily, Lazy.force lazily))
  in
  eventually "it waits" (fun () -> Promise.waiters promise = 1);
  Promise.fill promise 42;
  int "the result" 42 (Promise.await job);
  int "in the box" 42 (Mvar.take box);
  no "unlocked" (Mutex.is_locked m);
  raises "it" Boom (fun () ->
      Concord_domainslib.run pool (fun () ->
          Mutex.protect m (fun () -> raise Boom)));
  no "unlocked again" (Mutex.is_locked m)

(* Without [protect] the task is unknown, so the report must not claim a cycle. *)
let unknown () =
  Attached_pools.with_pool @@ fun pool ->
  let m = named "plain" in
  Concord_domainslib.run pool (fun () -> Mutex.lock m);
  let job = Concord_domainslib.submit pool (fun () -> Mutex.protect m ignore) in
  eventually "it waits" (fun () -> Mutex.waiters m = 1);
  int "no cycle" 0 (List.length (cycles ()));
  Concord_domainslib.run pool (fun () -> Mutex.unlock m);
  Promise.await job

(* Each [protect] in a task without identity makes a new identity, which ends with the
   function. *)
let ended () =
  Attached_pools.with_pool @@ fun pool ->
  let m = Mutex.create () in
  let in_a_task f =
    Concord_domainslib.run pool (fun () ->
        Domainslib.Task.await pool (Domainslib.Task.async pool f))
  in
  let owner () = (List.hd (Concord__Mutex.owners m)).by in
  let looks () =
    Gc.full_major ();
    let owner = owner () in
    yes "known" (Concord__core__Who.is_known owner);
    no "not ended yet" (Concord__core__Who.has_ended owner);
    owner
  in
  let first = in_a_task (fun () -> Mutex.protect m looks) in
  yes "ended" (Concord__core__Who.has_ended first);
  let second = Atomic.make first in
  let fails () =
    Atomic.set second (looks ());
    raise Boom
  in
  raises "it" Boom (fun () -> in_a_task (fun () -> Mutex.protect m fails));
  yes "ended by an exception" (Concord__core__Who.has_ended (Atomic.get second));
  no "another one" (first.name = (Atomic.get second).name)

let () =
  run "extents"
    [
      ( "extents",
        [
          test "protect in protect"
            (cycle ~inner:(fun a -> Mutex.protect a ignore));
          test "lock in protect"
            (cycle ~inner:(fun a ->
                 Mutex.lock a;
                 Mutex.unlock a));
          test "nested" nested;
          test "transparent" transparent;
          test "unknown" unknown;
          test "ended" ended;
        ] );
    ]
