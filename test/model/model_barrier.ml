(* Barriers and latches. *)

open Actor

let await name t =
  make name @@ fun () ->
  Barrier.await t;
  "ok"

let sync_await name t =
  make name @@ fun () ->
  Event.sync (Barrier.await_evt t);
  "ok"

let at_rest t actors () =
  all_queued actors [ live (Atomic.get t.Barrier.waiting) ];
  describe actors

let check ?(looks = 0) name parties make expect =
  Model.check name ~expect @@ fun () ->
  spin_at_most looks;
  let t = Barrier.create parties in
  let first, processes = make t in
  let processes, actors = start first processes in
  (processes, at_rest t actors)

(* Of two, no task passes unless the other does. Of three, the others pass without one that
   was cancelled but had not left yet. *)
module Described_latch = Described.Make (Groups.Of_latch)
module Described_pairs = Described.Make (Groups.Pairs)
module Described_threes = Described.Make (Groups.Threes)

let () =
  Described_latch.some 6;
  Described_pairs.some 6;
  Described_threes.some 6;
  check "one waits, another comes, one is cancelled" 2
    (fun t ->
      let a = await "a" t in
      ([ a ], [ Run (await "b" t); Cancel a ]))
    [ "a=cancelled b=waits"; "a=ok b=ok" ];
  check "one waits as an event, another comes" 2
    (fun t ->
      let a = sync_await "a" t in
      ([ a ], [ Run (await "b" t); Cancel a ]))
    [ "a=cancelled b=waits"; "a=ok b=ok" ];
  check "two come" 2
    (fun t -> ([], [ Run (await "a" t); Run (await "b" t) ]))
    [ "a=ok b=ok" ];
  check "one waits, another spins, both are cancelled" ~looks:1 2
    (fun t ->
      let a = await "a" t and b = await "b" t in
      let cancel_both () =
        Model.cancel a.task;
        Model.cancel b.task
      in
      ([ a ], [ Run b; Do cancel_both ]))
    [ "a=cancelled b=cancelled"; "a=cancelled b=waits"; "a=ok b=ok" ];
  check "two come, one is cancelled" 2
    (fun t ->
      let a = await "a" t in
      ([], [ Run a; Run (await "b" t); Cancel a ]))
    [ "a=cancelled b=waits"; "a=ok b=ok" ];
  check "the same, as an event" 2
    (fun t ->
      let a = sync_await "a" t in
      ([], [ Run a; Run (await "b" t); Cancel a ]))
    [ "a=cancelled b=waits"; "a=ok b=ok" ];
  check "one waits and is cancelled before the second of two comes" 2
    (fun t ->
      let a = await "a" t in
      let c =
        make "c" @@ fun () ->
        Model.cancel a.task;
        Barrier.await t;
        "ok"
      in
      ([ a ], [ Run (await "b" t); Run c ]))
    [ "a=cancelled b=ok c=ok"; "a=ok b=ok c=waits" ];
  check "two wait, one is cancelled, the third comes" 3
    (fun t ->
      let a = await "a" t and b = await "b" t in
      ([ a; b ], [ Run (await "c" t); Cancel a ]))
    [ "a=cancelled b=ok c=ok"; "a=cancelled b=waits c=waits"; "a=ok b=ok c=ok" ];
  check "the same, the second is cancelled" 3
    (fun t ->
      let a = await "a" t and b = await "b" t in
      ([ a; b ], [ Run (await "c" t); Cancel b ]))
    [ "a=ok b=cancelled c=ok"; "a=ok b=ok c=ok"; "a=waits b=cancelled c=waits" ];
  check "the same, as events" 3
    (fun t ->
      let a = sync_await "a" t and b = sync_await "b" t in
      ([ a; b ], [ Run (sync_await "c" t); Cancel b ]))
    [ "a=ok b=cancelled c=ok"; "a=ok b=ok c=ok"; "a=waits b=cancelled c=waits" ];
  check "one waits, two come, none is cancelled" 3
    (fun t ->
      let a = await "a" t in
      ([ a ], [ Run (await "b" t); Run (await "c" t) ]))
    [ "a=ok b=ok c=ok" ];
  (* Each of the two tasks belongs to one phase. The task that left the first phase must not
     count in the second. *)
  check "one waits and is cancelled, another comes twice" 2
    (fun t ->
      let a = await "a" t in
      let b =
        make "b" @@ fun () ->
        Barrier.await t;
        Barrier.await t;
        "ok"
      in
      ([ a ], [ Run b; Cancel a ]))
    [ "a=cancelled b=waits"; "a=ok b=waits" ];
  check "two wait, another comes by polling, one is cancelled" 3
    (fun t ->
      let a = await "a" t and b = await "b" t in
      let poll =
        make "p" @@ fun () ->
        if Event.poll (Barrier.await_evt t) = None then "none" else "ok"
      in
      ([ a; b ], [ Run poll; Cancel b ]))
    [ "a=ok b=cancelled p=ok"; "a=ok b=ok p=ok"; "a=waits b=cancelled p=none" ]

(* --- Latches -------------------------------------------------------------- *)

let await name t =
  make name @@ fun () ->
  Latch.await t;
  "ok"

let sync_await name t =
  make name @@ fun () ->
  Event.sync (Latch.await_evt t);
  "ok"

let count_down t = Do (fun () -> Latch.count_down t)

(* Another task joins and leaves again, unless it comes too late. *)
let comes name t =
  make name @@ fun () ->
  match Latch.count_up t with
  | () ->
      Latch.count_down t;
      "ok"
  | exception Invalid_argument _ -> "late"

let at_rest t actors () =
  (match Atomic.get t with
  | Latch.Open -> all_queued actors []
  | Shut (_, waiters) -> all_queued actors [ live waiters ]);
  describe actors ^ " " ^ string_of_int (Latch.count t)

let check name n make expect =
  Model.check ("latch: " ^ name) ~expect @@ fun () ->
  let t = Latch.create n in
  let first, processes = make t in
  let processes, actors = start first processes in
  (processes, at_rest t actors)

let () =
  Cancellations.check "latch" ~service:All
    [ ("", fun _ -> await); (", an event", fun _ -> sync_await) ]
    ~create:(fun () -> Latch.create 1)
    ~serve:Latch.count_down ~served:"ok"
    ~rest:(fun _ -> " 0")
    ~at_rest;
  check "two wait, the first is cancelled, two count" 2
    (fun t ->
      let a = await "a" t and b = await "b" t in
      ([ a; b ], [ count_down t; count_down t; Cancel a ]))
    [ "a=cancelled b=ok 0"; "a=ok b=ok 0" ];
  check "one waits and is cancelled, another comes, one of two counts" 2
    (fun t ->
      let a = await "a" t in
      ([ a ], [ Run (await "b" t); count_down t; Cancel a ]))
    [ "a=cancelled b=waits 1" ];
  check "one waits and is cancelled, one counts up and down, another down" 1
    (fun t ->
      let a = await "a" t in
      ([ a ], [ Run (comes "b" t); count_down t; Cancel a ]))
    [
      "a=cancelled b=late 0";
      "a=cancelled b=ok 0";
      "a=ok b=late 0";
      "a=ok b=ok 0";
    ];
  check "one counts up, whose count another has" 2
    (fun t ->
      let a = await "a" t in
      let down = count_down t in
      Latch.count_up t;
      ([ a ], [ down; down; Run (comes "b" t) ]))
    [ "a=waits b=ok 1" ];
  Model.finish ()
