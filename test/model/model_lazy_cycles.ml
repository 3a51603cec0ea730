open Actor
open Lazy_actor

let () =
  (* --- Cycles --- *)
  let plus t = 1 + Lazy.force t in
  (* Each computation that needs another one survives [Undefined]. *)
  let survive t =
    match Lazy.force t with v -> v + 1 | exception Lazy.Undefined -> 10
  in
  let pair () =
    let y = ref (Lazy.from_val 0) in
    let x = lazily (fun () -> survive !y) in
    y := lazily (fun () -> survive x);
    (x, !y)
  in
  check "two need each other"
    (fun () ->
      let x, y = pair () in
      ([], [ Run (force "a" x); Run (force "b" y) ], [ Any x; Any y ], nowhere))
    [
      "a=10 b=10 | 10 10 runs=2";
      "a=10 b=11 | 10 11 runs=2";
      "a=11 b=10 | 11 10 runs=2";
    ];
  let gated () =
    let p = Promise.create () in
    let y = ref (Lazy.from_val 0) in
    let x =
      lazily (fun () ->
          Promise.await p;
          survive !y)
    in
    y := lazily (fun () -> survive x);
    (p, x, !y)
  in
  check "two need each other, one is cancelled"
    (fun () ->
      let p, x, y = gated () in
      let a = force "a" x and b = force "b" y in
      ( [ a; b ],
        [ fill p (); Cancel b ],
        [ Any x; Any y ],
        fun () -> Promise.waiters p ))
    [
      "a=10 b=11 | 10 11 runs=2";
      "a=10 b=cancelled | 10 unforced runs=2";
      "a=11 b=cancelled | 11 10 runs=3";
    ];
  check "two need each other, a third comes that needs one of them"
    (fun () ->
      let p, x, y = gated () in
      let w = lazily (fun () -> plus y) in
      ( [ force "a" x; force "b" y ],
        [ fill p (); Run (force "c" w) ],
        [ Any x; Any y; Any w ],
        fun () -> Promise.waiters p ))
    [ "a=10 b=11 c=12 | 10 11 12 runs=3" ];
  check "the same, over a fourth"
    (fun () ->
      let p, x, y = gated () in
      let w = lazily (fun () -> plus y) in
      let v = lazily (fun () -> plus w) in
      ( [ force "a" x; force "b" y; force "c" w ],
        [ fill p (); Run (force "d" v) ],
        [ Any x; Any y; Any w; Any v ],
        fun () -> Promise.waiters p ))
    [ "a=10 b=11 c=12 d=13 | 10 11 12 13 runs=4" ];
  check "three need each other, one is cancelled"
    (fun () ->
      let p = Promise.create () in
      let x = ref (Lazy.from_val 0) in
      let z =
        lazily (fun () ->
            Promise.await p;
            survive !x)
      in
      let y = lazily (fun () -> survive z) in
      x := lazily (fun () -> survive y);
      let b = force "b" y in
      ( [ force "c" z; b; force "a" !x ],
        [ fill p (); Cancel b ],
        [ Any !x; Any y; Any z ],
        fun () -> Promise.waiters p ))
    [
      "c=10 b=11 a=12 | 12 11 10 runs=3";
      "c=10 b=cancelled a=11 | 11 10 10 runs=4";
      "c=10 b=cancelled a=12 | 12 11 10 runs=4";
      "c=12 b=cancelled a=11 | 11 10 12 runs=4";
    ];
  check "a chain"
    (fun () ->
      let z = lazily (fun () -> 1) in
      let y = lazily (fun () -> plus z) in
      let x = lazily (fun () -> plus y) in
      ( [],
        [ Run (force "a" x); Run (force "b" y) ],
        [ Any x; Any y; Any z ],
        nowhere ))
    [ "a=3 b=2 | 3 2 1 runs=3" ];
  check "a diamond"
    (fun () ->
      let z = lazily (fun () -> 1) in
      let y = lazily (fun () -> plus z) in
      let x = lazily (fun () -> plus z) in
      ( [],
        [ Run (force "a" x); Run (force "b" y) ],
        [ Any x; Any y; Any z ],
        nowhere ))
    [ "a=2 b=2 | 2 2 1 runs=3" ];
  (* [b] forces [y] and waits for [z], which [c] forces. After [b] was unwound, [c] needs [x].
     [a] forces [x], which needs [y]. This is no longer a cycle, because [y] isn't being
     computed. *)
  let no_cycle again first () =
    let p = Promise.create () and q = Promise.create () in
    let x = ref (Lazy.from_val 0) in
    let z =
      lazily (fun () ->
          Promise.await p;
          plus !x)
    in
    let begun = ref false in
    let y =
      lazily (fun () ->
          if !begun then again q
          else begin
            begun := true;
            plus z
          end)
    in
    x := lazily (fun () -> plus y);
    let b = force "b" y in
    let cancel () =
      Model.cancel b.task;
      Promise.fill p ()
    in
    ( force "c" z :: b :: first y,
      [ Run (force "a" !x); Do cancel ],
      [ Any !x; Any y; Any z ],
      fun () -> Promise.waiters q )
  in
  check "no cycle at any time"
    (no_cycle (fun _ -> 1) (fun _ -> []))
    [ "c=3 b=cancelled a=2 | 2 1 3 runs=4" ];
  check "the same, and another waits for what is passed on"
    (no_cycle Promise.await (fun y -> [ force "d" y ]))
    [ "c=waits b=cancelled d=waits a=waits | forcing+ forcing forcing+ runs=4" ];
  (* --- Needs that have ended --- *)
  (* [a] forces [x], which tries to force [y] and then waits for a promise. *)
  let ends attempt y_needs first processes () =
    let p = Promise.create () and q = Promise.create () in
    let x = ref (Lazy.from_val 0) in
    let y = lazily (fun () -> y_needs p !x) in
    let await () = Suspend.protect (fun () -> Promise.await q) in
    x :=
      lazily (fun () ->
          attempt y;
          await ());
    let a = force "a" !x and b = force "b" y in
    ( first a b,
      processes p a b,
      [ Any !x; Any y ],
      fun () -> Promise.waiters p + Promise.waiters q )
  in
  check "it was forced"
    (ends
       (fun y -> ignore (Lazy.force y : int))
       (fun _ _ -> 1)
       (fun _ _ -> [])
       (fun _ a b -> [ Run a; Run b ]))
    [ "a=waits b=1 | forcing 1 runs=2" ];
  check "its force raised Undefined"
    (ends
       (fun y -> ignore (survive y : int))
       (fun _ x -> survive x)
       (fun _ _ -> [])
       (fun _ a b -> [ Run a; Run b ]))
    [
      "a=waits b=10 | forcing 10 runs=2";
      "a=waits b=waits | forcing forcing runs=2";
      "a=waits b=waits | forcing forcing+ runs=2";
    ];
  check "its force was cancelled"
    (ends
       (fun y ->
         match Lazy.force y with
         | (_ : int) -> ()
         | exception Model.Cancelled -> ())
       (fun p _ -> Promise.await p)
       (fun a b -> [ b; a ])
       (fun p a _ -> [ fill p 1; Cancel a ]))
    [ "b=1 a=waits | forcing 1 runs=2" ];
  Model.finish ()
