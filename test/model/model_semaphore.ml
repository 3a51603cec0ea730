open Actor

let acquire name t =
  make name @@ fun () ->
  Semaphore.Counting.acquire t;
  "ok"

let sync_acquire name t =
  make name @@ fun () ->
  Event.sync (Semaphore.Counting.acquire_evt t);
  "ok"

let try_acquire name t =
  make name (fun () ->
      if Semaphore.Counting.try_acquire t then "ok" else "none")

let acquire_two name t =
  make name @@ fun () ->
  Semaphore.Counting.acquire_n t 2;
  "ok"

(* The task needs two permits, and then returns them. *)
let use_two name t =
  make name @@ fun () -> Semaphore.Counting.with_permits t 2 (fun () -> "ok")

(* A task that has acquired a permit, or two, was cancelled before it could continue. *)
let back ?(n = 1) ?(acquiring = Semaphore.acquiring) t =
  let undo = acquiring.operation.undo in
  Do (fun () -> if not (undo t (Permits.request n) ()) then failwith "kept")

let release_both t = Do (fun () -> Semaphore.Counting.release_n t 2)
let release t = Do (fun () -> Semaphore.Counting.release t)

let release_twice t =
  Do
    (fun () ->
      Semaphore.Counting.release t;
      Semaphore.Counting.release t)

let release_binary t = Do (fun () -> Semaphore.Binary.release t)

let at_rest t actors () =
  let s = Atomic.get t in
  let free = Permits.free_of s and first = Permits.first_of s in
  if (Permits.rare_of s).promised > 0 then failwith "nudged at rest";
  all_queued actors [ live first ];
  if live first > 0 && free >= (Waiters.head first).arg.amount then
    failwith "a task waits that could be served";
  describe actors ^ " " ^ string_of_int free

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

let () =
  Described_semaphore.some 20;
  permits_come_back ();
  Cancellations.check "acquire"
    [ ("", fun _ -> acquire); (", an event", fun _ -> sync_acquire) ]
    ~create:(fun () -> Semaphore.Counting.make 0)
    ~serve:Semaphore.Counting.release ~served:"ok"
    ~rest:(function [] -> " 1" | _ -> " 0")
    ~at_rest;
  check "two wait, the first is cancelled, two releases" 0
    (fun t ->
      let a = acquire "a" t and b = acquire "b" t in
      ([ a; b ], [ release t; release t; Cancel a ]))
    [ "a=cancelled b=ok 1"; "a=ok b=ok 0" ];
  check "one waits and is cancelled, another tries" 0
    (fun t ->
      let a = acquire "a" t in
      ([ a ], [ release t; Run (try_acquire "b" t); Cancel a ]))
    [ "a=cancelled b=none 1"; "a=cancelled b=ok 0"; "a=ok b=none 0" ];
  check "one waits for two and is cancelled, another waits for one" 1
    (fun t ->
      let a = acquire_two "a" t and b = acquire "b" t in
      ([ a; b ], [ release t; Cancel a ]))
    [ "a=cancelled b=ok 1"; "a=ok b=waits 0" ];
  check "two wait, the first for two, both are released, it is cancelled" 0
    (fun t ->
      let a = acquire_two "a" t and b = acquire "b" t in
      ([ a; b ], [ release_both t; Cancel a ]))
    [ "a=cancelled b=ok 1"; "a=ok b=waits 0" ];
  check "two that each need two of three" 3
    (fun t -> ([], [ Run (use_two "a" t); Run (use_two "b" t) ]))
    [ "a=ok b=ok 3" ];
  check "two for one permit, a release" 1
    (fun t -> ([], [ Run (acquire "a" t); Run (acquire "b" t); release t ]))
    [ "a=ok b=ok 0" ];
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
