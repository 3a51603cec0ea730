(* Locks for readers and a writer. Except for those of nudged tasks, the scenarios below are of a
   lock with writers first. A writer that comes while several readers are let in may come before
   some of them, which its description doesn't say. *)

open Actor

let lock mode t =
  match mode with
  | Rwlock.Read -> Rwlock.read_lock t
  | Write -> Rwlock.write_lock t

let sync_lock mode t =
  match mode with
  | Rwlock.Read -> Event.sync (Rwlock.read_lock_evt t)
  | Write -> Event.sync (Rwlock.write_lock_evt t)

let unlock mode t =
  match mode with
  | Rwlock.Read -> Rwlock.read_unlock t
  | Write -> Rwlock.write_unlock t

let keep mode name t =
  make name @@ fun () ->
  lock mode t;
  "has"

let reads name t = keep Read name t
let writes name t = keep Write name t

let pass mode name t =
  make name @@ fun () ->
  lock mode t;
  unlock mode t;
  "ok"

let sync_keep mode name t =
  make name @@ fun () ->
  sync_lock mode t;
  "has"

let sync_pass mode name t =
  make name @@ fun () ->
  sync_lock mode t;
  unlock mode t;
  "ok"

let tries mode name t =
  make name @@ fun () ->
  if
    match mode with
    | Rwlock.Read -> Rwlock.try_read_lock t
    | Write -> Rwlock.try_write_lock t
  then "has"
  else "busy"

(* Locks [t], and returns the process that unlocks it. *)
let held mode t =
  lock mode t;
  Do (fun () -> unlock mode t)

let writer = -1

let live_at_rest t =
  let s = Atomic.get t.Rwlock.state in
  let rare = Permits.rare_of s in
  if rare.promised > 0 then failwith "nudged at rest";
  let live = live (Permits.first_of s) + live rare.second in
  if live = 0 && Rwlock.waiters t > 0 then failwith "waiters <> 0 at rest";
  live

(* The lock counts at least as many holders as there are actors that keep it. The expected
   outcomes show that no task waits that could have it. *)
let at_rest t actors () =
  all_queued actors [ live_at_rest t ];
  let holders = List.length (List.filter (fun a -> a.result = "has") actors) in
  let free = Permits.free_of (Atomic.get t.state) in
  let held = if free = 0 then writer else Permits.all - free in
  if held = writer then
    begin if holders > 1 then failwith "a task has the lock beside a writer"
    end
  else if held < holders then failwith "more tasks have the lock than it counts";
  describe actors ^ " " ^ string_of_int held

let check ?(prefer = `Writers) name make expect =
  Model.check name ~expect @@ fun () ->
  let t = Rwlock.create ~prefer () in
  let first, processes = make t in
  let processes, actors = start first processes in
  (processes, at_rest t actors)

let both name make expect =
  check ~prefer:`Nobody (name ^ " (fair)") make expect;
  check name make expect

(* A writer holds the lock. *)
let cancellations () =
  let create () =
    let t = Rwlock.create ~prefer:`Writers () in
    Rwlock.write_lock t;
    t
  in
  let check ?service name mode ~rest =
    Cancellations.check ?service ~three:false name
      [ ("", fun _ -> keep mode); (", an event", fun _ -> sync_keep mode) ]
      ~create ~serve:Rwlock.write_unlock ~served:"has" ~at_rest
      ~rest:(fun served -> " " ^ string_of_int (rest served))
  in
  check "read" ~service:All Read ~rest:List.length;
  check "write" Write ~rest:(function [] -> 0 | _ -> writer)

(* The waiters are tasks of sleeping threads, so they are nudged. *)
let check_nudged what ~late =
  let unless_late outcomes = if late then [] else outcomes in
  both
    ("a writer has it, a sleeper waits to write, a reader comes" ^ what)
    (fun t ->
      let h = held Write t in
      ([ pass Write "w" t ], [ h; Run (pass Read "r" t) ]))
    [ "w=ok r=ok 0" ];
  both
    ("a writer has it, sleepers wait to read and to write, one is cancelled"
   ^ what)
    (fun t ->
      let h = held Write t in
      let r = pass Read "r" t and w = pass Write "w" t in
      ([ r; w ], [ h; Cancel w ]))
    [ "r=ok w=cancelled 0"; "r=ok w=ok 0" ];
  both
    ("a writer has it, a sleeper waits to read, a writer only tries" ^ what)
    (fun t ->
      let h = held Write t in
      let r = reads "r" t in
      ([ r ], [ h; Run (tries Write "w" t); Cancel r ]))
    ([ "r=cancelled w=busy 0"; "r=cancelled w=has -1"; "r=has w=busy 1" ]
    @ unless_late [ "r=waits w=has -1" ])

module Described_fair = Described.Make (Exclusion.Fair)

let () =
  Described_fair.some 30 ~at_rest:(fun t -> ignore (live_at_rest t : int));
  cancellations ();
  check "a writer and a reader, the writer is cancelled"
    (fun t ->
      let w = pass Write "w" t in
      ([], [ Run w; Run (pass Read "r" t); Cancel w ]))
    [ "w=cancelled r=ok 0"; "w=ok r=ok 0" ];
  check "a writer and a reader, the reader is cancelled, as events"
    (fun t ->
      let r = sync_pass Read "r" t in
      ([], [ Run r; Run (sync_pass Write "w" t); Cancel r ]))
    [ "r=cancelled w=ok 0"; "r=ok w=ok 0" ];
  check "two writers keep it, one is cancelled"
    (fun t ->
      let a = writes "a" t in
      ([], [ Run a; Run (writes "b" t); Cancel a ]))
    [ "a=cancelled b=has -1"; "a=has b=waits -1"; "a=waits b=has -1" ];
  check "a reader has it, a writer and a reader wait, the writer is cancelled"
    (fun t ->
      let h = held Read t in
      let w = writes "w" t and r = reads "r" t in
      ([ w; r ], [ Cancel w; h ]))
    [ "w=cancelled r=has 1"; "w=has r=waits -1" ];
  check "the same, it isn't released, another reader comes"
    (fun t ->
      ignore (held Read t);
      let w = writes "w" t and r = reads "r" t in
      ([ w; r ], [ Cancel w; Run (reads "s" t) ]))
    [ "w=cancelled r=has s=has 3" ];
  check "a writer has it; reader, writer, reader wait; the writer is cancelled"
    (fun t ->
      let h = held Write t in
      let r = reads "r" t and w = writes "w" t and s = reads "s" t in
      ([ r; w; s ], [ Cancel w; h ]))
    [ "r=has w=cancelled s=has 2"; "r=waits w=has s=waits -1" ];
  check "the same, and the first reader is cancelled"
    (fun t ->
      let h = held Write t in
      let r = reads "r" t and w = writes "w" t and s = reads "s" t in
      ([ r; w; s ], [ Cancel r; h ]))
    [ "r=cancelled w=has s=waits -1" ];
  check "a writer has it, a reader waits, a writer comes"
    (fun t ->
      let h = held Write t in
      ([ reads "r" t ], [ Run (writes "w" t); h ]))
    [ "r=has w=waits 1"; "r=waits w=has -1" ];
  check "a writer has it, another waits, a reader comes"
    (fun t ->
      let h = held Write t in
      ([ writes "w" t ], [ Run (reads "r" t); h ]))
    [ "w=has r=waits -1" ];
  check
    "a writer has it, another waits, a reader that only tries does not overtake"
    (fun t ->
      let h = held Write t in
      let w = writes "w" t in
      ([ w ], [ h; Run (tries Read "r" t); Cancel w ]))
    [ "w=cancelled r=busy 0"; "w=cancelled r=has 1"; "w=has r=busy -1" ];
  check
    "a writer has it and downgrades; a reader and a writer wait, it is \
     cancelled"
    (fun t ->
      Rwlock.write_lock t;
      let w = writes "w" t and r = reads "r" t in
      ([ w; r ], [ Do (fun () -> Rwlock.downgrade t); Cancel w ]))
    [ "w=cancelled r=has 2" ];
  check "a writer has it and downgrades, a reader waits, a writer tries"
    (fun t ->
      Rwlock.write_lock t;
      let r = reads "r" t in
      ( [ r ],
        [ Do (fun () -> Rwlock.downgrade t); Run (tries Write "w" t); Cancel r ]
      ))
    [ "r=cancelled w=busy 1"; "r=has w=busy 2" ];
  check "a writer downgrades in its bracket; a reader and a writer wait"
    (fun t ->
      let b =
        make "b" @@ fun () ->
        Rwlock.write t (fun () -> Rwlock.downgrade t);
        "ok"
      in
      let w = pass Write "w" t in
      ([], [ Run b; Run (reads "r" t); Run w; Cancel w ]))
    [ "b=ok r=has w=cancelled 1"; "b=ok r=has w=ok 1"; "b=ok r=has w=waits 1" ];
  check "two readers have it, both release, a writer waits and is cancelled"
    (fun t ->
      let h = held Read t and h' = held Read t in
      let w = writes "w" t in
      ([ w ], [ h; h'; Cancel w ]))
    [ "w=cancelled 0"; "w=has -1" ];
  Sleeper.asleep := true;
  check_nudged "" ~late:false;
  Sleeper.step_ns := 2 * Nudge.patience_ns;
  check_nudged ", soon late" ~late:true;
  Model.finish ()
