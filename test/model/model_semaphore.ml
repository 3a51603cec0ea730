(* Semaphores. The scenarios below are those of permits that come back, and of nudged tasks. One
   more notices a fault that drawn scenarios often miss. *)

open Actor

let acquire name t =
  make name @@ fun () ->
  Semaphore.Counting.acquire t;
  "ok"

let try_acquire name t =
  make name (fun () ->
      if Semaphore.Counting.try_acquire t then "ok" else "none")

let acquire_two name t =
  make name @@ fun () ->
  Semaphore.Counting.acquire_n t 2;
  "ok"

(* A task that has acquired a permit, or two, was cancelled before it could continue. *)
let back ?(n = 1) ?(acquiring = Semaphore.acquiring) t =
  let undo = acquiring.operation.undo in
  Do (fun () -> if not (undo t (Permits.request n) ()) then failwith "kept")

let release t = Do (fun () -> Semaphore.Counting.release t)

let release_twice t =
  Do
    (fun () ->
      Semaphore.Counting.release t;
      Semaphore.Counting.release t)

let release_binary t = Do (fun () -> Semaphore.Binary.release t)

let live_at_rest t =
  let s = Atomic.get t in
  let free = Permits.free_of s and first = Permits.first_of s in
  if (Permits.rare_of s).promised > 0 then failwith "nudged at rest";
  let live = live first in
  if live > 0 && free >= (Waiters.head first).arg.amount then
    failwith "a task waits that could be served";
  live

let at_rest t actors () =
  all_queued actors [ live_at_rest t ];
  describe actors ^ " " ^ string_of_int (Permits.free_of (Atomic.get t))

let check name permits make expect =
  Model.check name ~expect @@ fun () ->
  let t = Semaphore.Counting.make permits in
  let first, processes = make t in
  let processes, actors = start first processes in
  (processes, at_rest t actors)

(* The waiters are tasks of sleeping threads, so they are nudged. *)
let check_nudged what ~late =
  let unless_late outcomes = if late then [] else outcomes in
  check
    ("a sleeper waits and is cancelled, another tries" ^ what)
    0
    (fun t ->
      let a = acquire "a" t in
      ([ a ], [ release t; Run (try_acquire "b" t); Cancel a ]))
    ([ "a=cancelled b=none 1"; "a=cancelled b=ok 0"; "a=ok b=none 0" ]
    @ unless_late [ "a=waits b=ok 0" ]);
  check
    ("two sleepers wait, the first is cancelled, two releases" ^ what)
    0
    (fun t ->
      let a = acquire "a" t and b = acquire "b" t in
      ([ a; b ], [ release_twice t; Cancel a ]))
    [ "a=cancelled b=ok 1"; "a=ok b=ok 0" ];
  check
    ("a sleeper waits, another comes, two releases" ^ what)
    0
    (fun t ->
      let a = acquire "a" t in
      ([ a ], [ release_twice t; Run (acquire "b" t) ]))
    [ "a=ok b=ok 0" ]

let permits_come_back () =
  check "a permit comes back, one acquires" 0
    (fun t -> ([], [ back t; Run (acquire "a" t) ]))
    [ "a=ok 0" ];
  check "a permit comes back, two try" 0
    (fun t ->
      ([], [ back t; Run (try_acquire "a" t); Run (try_acquire "b" t) ]))
    [ "a=none b=none 1"; "a=none b=ok 0"; "a=ok b=none 0" ];
  check "a permit comes back, another is released, two wait" 0
    (fun t -> ([ acquire "a" t; acquire "b" t ], [ back t; release t ]))
    [ "a=ok b=ok 0" ];
  check "a permit comes back, two wait, the first is cancelled" 0
    (fun t ->
      let a = acquire "a" t in
      ([ a; acquire "b" t ], [ back t; Cancel a ]))
    [ "a=cancelled b=ok 0"; "a=ok b=waits 0" ];
  check "a permit comes back, one waits and is cancelled, another tries" 0
    (fun t ->
      let a = acquire "a" t in
      ([ a ], [ back t; Run (try_acquire "b" t); Cancel a ]))
    [ "a=cancelled b=none 1"; "a=cancelled b=ok 0"; "a=ok b=none 0" ];
  check "two permits come back, two wait" 0
    (fun t -> ([ acquire "a" t; acquire "b" t ], [ back t; back t ]))
    [ "a=ok b=ok 0" ];
  check "two permits come back, one waits for both, another for one" 0
    (fun t -> ([ acquire_two "a" t; acquire "b" t ], [ back t; back t ]))
    [ "a=ok b=waits 0" ];
  check "two permits come back at once, one waits for each" 0
    (fun t ->
      let a = acquire "a" t in
      ([ a; acquire "b" t ], [ back ~n:2 t; Cancel a ]))
    [ "a=cancelled b=ok 1"; "a=ok b=ok 0" ];
  let acquiring = Semaphore.acquiring_binary in
  check "binary: a permit comes back, another task releases" 0
    (fun t -> ([], [ back ~acquiring t; release_binary t ]))
    [ " 1" ];
  check "binary: a permit comes back, another task releases, one waits" 0
    (fun t -> ([ acquire "a" t ], [ back ~acquiring t; release_binary t ]))
    [ "a=ok 1" ]

module Described_semaphore = Described.Make (Semaphores.Of_one)
module Described_binary = Described.Make (Semaphores.Binary)

let () =
  let at_rest t = ignore (live_at_rest t : int) in
  Described_semaphore.some ~at_rest 20;
  Described_binary.some 10 ~at_rest:(fun t ->
      at_rest t;
      if Permits.free_of (Atomic.get t) > 1 then failwith "two permits");
  permits_come_back ();
  check "binary: one waits and is cancelled, two releases" 0
    (fun t ->
      let a = acquire "a" t in
      ([ a ], [ release_binary t; release_binary t; Cancel a ]))
    [ "a=cancelled 1"; "a=ok 1" ];
  Sleeper.asleep := true;
  check_nudged "" ~late:false;
  Sleeper.step_ns := 2 * Nudge.patience_ns;
  check_nudged ", soon late" ~late:true;
  Model.finish ()
