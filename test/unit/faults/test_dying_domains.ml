(* A domain ends with an exception. Some of its tasks wait then, and some hold structures
   that others wait for. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo
module Identity = Concord__core__Identity

exception Boom

type world = {
  lock : Mutex.t;
  rwlock : Rwlock.t;
  box : int Mvar.t;
  held : int Mvar.t;
  permits : Semaphore.Counting.t;
  promise : int Promise.t;
  meeting : int Channel.t;
}

let world () =
  {
    lock = Mutex.create ();
    rwlock = Rwlock.create ();
    box = Mvar.create_empty ();
    held = Mvar.create 0;
    permits = Semaphore.Counting.make 0;
    promise = Promise.create ();
    meeting = Channel.create ();
  }

let never () = Promise.await (Promise.create ())

(* Tasks of the domain that hold a structure. Those of [waiters] wait in one. *)
let holders w =
  [
    (fun () -> Mutex.protect w.lock never);
    (fun () -> Rwlock.write w.rwlock never);
    (fun () -> Mvar.modify w.held (fun v -> (v, never ())));
  ]

let waiters w =
  [
    (fun () -> ignore (Mvar.take w.box : int));
    (fun () -> Semaphore.Counting.acquire w.permits);
    (fun () -> ignore (Promise.await w.promise : int));
    (fun () ->
      ignore
        (Event.select
           [
             Channel.receive_evt w.meeting;
             Event.wrap (Event.timeout 1000.) (fun () -> 0);
           ]
          : int));
  ]

(* The number of waiters of each structure. *)
let waiting w =
  [
    Mutex.waiters w.lock;
    Rwlock.waiters w.rwlock;
    Mvar.waiters w.held;
    Mvar.waiters w.box;
    Semaphore.Counting.waiters w.permits;
    Promise.waiters w.promise;
    Channel.waiters w.meeting;
  ]

let all_are n w = List.for_all (( = ) n) (waiting w)

(* Raises instead of using Alcotest's checks, because those print, and this runs in other
   threads. *)
let same what expected actual = if actual <> expected then failwith what

(* One more thread waits in each structure. These threads survive. *)
let followers w =
  List.map thread
    [
      (fun () -> Mutex.protect w.lock ignore);
      (fun () -> Rwlock.write w.rwlock ignore);
      (fun () -> same "what was in the box" 0 (Mvar.take w.held));
      (fun () -> same "the box" 1 (Mvar.take w.box));
      (fun () -> Semaphore.Counting.acquire w.permits);
      (fun () -> same "the promise" 2 (Promise.await w.promise));
      (fun () -> same "the channel" 3 (Channel.receive w.meeting));
    ]

let dies run () =
  let w = world () and go_on = Promise.create () in
  let domain =
    Domain.spawn (fun () ->
        run (fun () ->
            let fork f = ignore (Fifo.fork f : Fifo.handle) in
            List.iter fork (holders w);
            List.iter fork (waiters w);
            Promise.await go_on;
            raise Boom))
  in
  eventually "its tasks wait" (fun () -> waiting w = [ 0; 0; 0; 1; 1; 1; 1 ]);
  let joins = followers w in
  eventually "others wait" (fun () -> waiting w = [ 1; 1; 1; 2; 2; 2; 2 ]);
  Promise.fill go_on ();
  raises "it died" Boom (fun () -> Domain.join domain);
  Mvar.put w.box 1;
  Semaphore.Counting.release w.permits;
  Promise.fill w.promise 2;
  Channel.send w.meeting 3;
  List.iter (fun join -> join ()) joins;
  yes "no task waits" (all_are 0 w)

(* A resumer that is called after the domain has died must refuse. *)
let refuses run () =
  let kept = Mvar.create_empty () in
  let domain =
    Domain.spawn (fun () ->
        run (fun () ->
            ignore
              (Fifo.fork (fun () ->
                   Suspend.suspend (fun resumer ->
                       Mvar.put kept resumer;
                       None))
                : Fifo.handle);
            raise Boom))
  in
  let resumer = Mvar.take kept in
  raises "it died" Boom (fun () -> Domain.join domain);
  no "its task is not to be resumed" (resumer (Ok ()))

(* A thread of another domain serves the timeouts, and must drop those of the dead domain. *)
let leaves_no_timeout run () =
  let before = Concord__core__Timer.pending () in
  let domain =
    Domain.spawn (fun () ->
        run (fun () ->
            for _ = 1 to 10 do
              ignore
                (Fifo.fork (fun () -> Event.sync (Event.timeout 1000.))
                  : Fifo.handle)
            done;
            raise Boom))
  in
  raises "it died" Boom (fun () -> Domain.join domain);
  int "timeouts" before (Concord__core__Timer.pending ())

(* Up to OCaml 5.4, a domain that ends must have cleared its weak pointers. Whether the collector
   crashes or hangs otherwise is up to chance (see doc/limits.mld), so this looks for the slice of
   a collection that clears them. *)
let slices domain =
  let cursor = Runtime_events.create_cursor None and slices = ref 0 in
  let runtime_begin _ _ = function
    | Runtime_events.EV_EXPLICIT_GC_MAJOR_SLICE -> incr slices
    | _ -> ()
  in
  Domain.join (Domain.spawn domain);
  let callbacks = Runtime_events.Callbacks.create ~runtime_begin () in
  ignore (Runtime_events.read_poll cursor callbacks None : int);
  Runtime_events.free_cursor cursor;
  !slices

let clears_pointers () =
  Runtime_events.start ();
  let point () = ignore (Identity.pointer (ref 0) : Identity.pointer) in
  int "none" 0 (slices ignore);
  int "some" 1
    (slices (fun () ->
         point ();
         point ()))

let on name run =
  ( name,
    [
      test "others get what it held and waited for" (dies run);
      test "its resumers refuse" (refuses run);
      test "it leaves no timeout" (leaves_no_timeout run);
    ] )

let () =
  run "A domain that dies"
    [
      on "Fifo" (fun f -> Fifo.run f);
      on "Fifo, lazy" (fun f -> Fifo.run ~cancellation:`Lazy f);
      on "Fifo in Fifo" (fun f -> Fifo.run (fun () -> Fifo.run f));
      ("weak pointers", [ test "are cleared before" clears_pointers ]);
    ]
