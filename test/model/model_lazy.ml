open Actor

exception Boom

let got = string_of_int

(* How often a computation was begun, and how many run. *)
let runs = ref 0
let inside = ref 0

let computing f () =
  incr runs;
  incr inside;
  Fun.protect ~finally:(fun () -> decr inside) f

let lazily ?cancel f = Lazy.from_fun ?cancel (computing f)

(* Its first run waits, for ever or until it is cancelled. *)
let first_waits ?cancel p =
  lazily ?cancel (fun () -> if !runs = 1 then Promise.await p else !runs)

let caught f x =
  match f x with
  | v -> got v
  | exception Boom -> "boom"
  | exception Lazy.Undefined -> "undefined"

let force name t = make name (fun () -> caught Lazy.force t)
let watch name t = make name (fun () -> caught Event.sync (Lazy.await_evt t))

let choose name t box =
  make name @@ fun () ->
  caught Event.select [ Lazy.await_evt t; Mvar.take_evt box ]

let fill p v = Do (fun () -> Promise.fill p v)
let put box v = Do (fun () -> if not (Mvar.try_put box v) then failwith "full")

type any = Any : int Lazy.t -> any

let look (Any t) =
  match Atomic.get t with
  | Forcing.Value v -> (got v, 0)
  | Failed _ -> ("failed", 0)
  | Unforced (_, watchers) -> ("unforced", live watchers)
  | Forcing { waiters; watchers; needs; _ } ->
      let needs = if Option.is_none needs then "" else "+" in
      ("forcing" ^ needs, live waiters + live watchers)

(* [elsewhere ()]: how many wait for something else. *)
let at_rest ts elsewhere actors () =
  let looks = List.map look ts in
  all_queued actors (elsewhere () :: List.map snd looks);
  let is_forcing (state, _) = String.starts_with ~prefix:"forcing" state in
  if List.length (List.filter is_forcing looks) <> !inside then
    failwith "forcing, and nobody computes";
  String.concat " " (describe actors :: "|" :: List.map fst looks)
  ^ Printf.sprintf " runs=%d" !runs

(* [make ()]: who waits first, the processes, the lazy values, and how many wait for
   something else. *)
let check name make expect =
  Model.check name ~expect @@ fun () ->
  runs := 0;
  inside := 0;
  let first, processes, ts, elsewhere = make () in
  let processes, actors = start first processes in
  (processes, at_rest ts elsewhere actors)

let nowhere () = 0

(* One lazy value, the first run of which waits for a promise. *)
let one ?cancel scenario () =
  let p = Promise.create () in
  let t = first_waits ?cancel p in
  let first, processes = scenario t p in
  (first, processes, [ Any t ], fun () -> Promise.waiters p)

let simple f scenario () =
  let t = lazily f in
  ([], scenario t, [ Any t ], nowhere)

let () =
  (* --- Forcing --- *)
  check "two force"
    (simple (fun () -> 1) @@ fun t -> [ Run (force "a" t); Run (force "b" t) ])
    [ "a=1 b=1 | 1 runs=1" ];
  check "three force"
    ( simple (fun () -> 1) @@ fun t ->
      [ Run (force "a" t); Run (force "b" t); Run (force "c" t) ] )
    [ "a=1 b=1 c=1 | 1 runs=1" ];
  check "a failure, two force"
    ( simple (fun () -> raise Boom) @@ fun t ->
      [ Run (force "a" t); Run (force "b" t) ] )
    [ "a=boom b=boom | failed runs=1" ];
  check "two force, and a look"
    ( simple (fun () -> 1) @@ fun t ->
      let peek =
        make "peek" @@ fun () ->
        match Lazy.peek t with
        | None -> "none"
        | Some (Ok v) -> got v
        | Some (Error _) -> "error"
      in
      [ Run (force "a" t); Run (force "b" t); Run peek ] )
    [ "a=1 b=1 peek=1 | 1 runs=1"; "a=1 b=1 peek=none | 1 runs=1" ];
  (* --- Cancelling --- *)
  check "the forcer waits and is cancelled, another forces"
    ( one @@ fun t _ ->
      let a = force "a" t in
      ([ a ], [ Cancel a; Run (force "b" t) ]) )
    [ "a=cancelled b=2 | 2 runs=2" ];
  check "the forcer waits, and another; the forcer is cancelled or goes on"
    ( one @@ fun t p ->
      let a = force "a" t in
      ([ a; force "b" t ], [ Cancel a; fill p 1 ]) )
    [ "a=1 b=1 | 1 runs=1"; "a=cancelled b=2 | 2 runs=2" ];
  check "two force, one is cancelled"
    ( one @@ fun t _ ->
      let a = force "a" t in
      ([], [ Run a; Cancel a; Run (force "b" t) ]) )
    [
      "a=cancelled b=2 | 2 runs=2";
      "a=cancelled b=waits | forcing runs=1";
      "a=waits b=waits | forcing runs=1";
    ];
  check "the forcer waits, and another; both are cancelled"
    ( one @@ fun t _ ->
      let a = force "a" t and b = force "b" t in
      ([ a; b ], [ Cancel a; Cancel b ]) )
    [
      "a=cancelled b=2 | 2 runs=2"; "a=cancelled b=cancelled | unforced runs=1";
    ];
  check "the same, and a third waits"
    ( one @@ fun t _ ->
      let a = force "a" t and b = force "b" t in
      ([ a; b; force "c" t ], [ Cancel a; Cancel b ]) )
    [
      "a=cancelled b=2 c=2 | 2 runs=2"; "a=cancelled b=cancelled c=2 | 2 runs=2";
    ];
  check "the same, and a third comes"
    ( one @@ fun t _ ->
      let a = force "a" t and b = force "b" t in
      ([ a; b ], [ Cancel a; Cancel b; Run (force "c" t) ]) )
    [
      "a=cancelled b=2 c=2 | 2 runs=2"; "a=cancelled b=cancelled c=2 | 2 runs=2";
    ];
  check "one waits and is cancelled, while it is forced"
    ( one @@ fun t p ->
      let a = force "a" t and b = force "b" t in
      ([ a; b ], [ fill p 1; Cancel b ]) )
    [ "a=1 b=1 | 1 runs=1"; "a=1 b=cancelled | 1 runs=1" ];
  check "one waits and is cancelled, another comes"
    ( one @@ fun t _ ->
      let a = force "a" t and b = force "b" t in
      ([ a; b ], [ Cancel b; Run (force "c" t) ]) )
    [ "a=waits b=cancelled c=waits | forcing runs=1" ];
  check "one comes and is cancelled, while it is forced"
    ( one @@ fun t p ->
      let a = force "a" t and b = force "b" t in
      ([ a ], [ fill p 1; Run b; Cancel b ]) )
    [ "a=1 b=1 | 1 runs=1"; "a=1 b=cancelled | 1 runs=1" ];
  check "`Record: the forcer waits and is cancelled, another forces"
    ( one ~cancel:`Record @@ fun t _ ->
      let a = force "a" t in
      ([ a ], [ Cancel a; Run (force "b" t) ]) )
    [ "a=cancelled b=cancelled | failed runs=1" ];
  check "`Protect: the forcer waits and is cancelled, another forces"
    ( one ~cancel:`Protect @@ fun t p ->
      let a = force "a" t in
      ([ a ], [ Cancel a; fill p 1; Run (force "b" t) ]) )
    [ "a=1 b=1 | 1 runs=1" ];
  (* --- The event --- *)
  check "one watches, one forces"
    (simple (fun () -> 1) @@ fun t -> [ Run (watch "w" t); Run (force "a" t) ])
    [ "w=1 a=1 | 1 runs=1" ];
  check "one waits to watch and is cancelled, one forces"
    (fun () ->
      let t = lazily (fun () -> 1) in
      let w = watch "w" t in
      ([ w ], [ Cancel w; Run (force "a" t) ], [ Any t ], nowhere))
    [ "w=1 a=1 | 1 runs=1"; "w=cancelled a=1 | 1 runs=1" ];
  check "a failure, one watches"
    ( simple (fun () -> raise Boom) @@ fun t ->
      [ Run (watch "w" t); Run (force "a" t) ] )
    [ "w=boom a=boom | failed runs=1" ];
  check "one watches, the forcer is cancelled, another forces"
    ( one @@ fun t _ ->
      let a = force "a" t in
      ([ a ], [ Run (watch "w" t); Cancel a; Run (force "b" t) ]) )
    [ "a=cancelled w=2 b=2 | 2 runs=2" ];
  check "one watches and one waits, the forcer is cancelled"
    ( one @@ fun t _ ->
      let a = force "a" t in
      ([ a; watch "w" t; force "b" t ], [ Cancel a; Run (watch "v" t) ]) )
    [ "a=cancelled w=2 b=2 v=2 | 2 runs=2" ];
  let choices scenario () =
    let p = Promise.create () and box = Mvar.create_empty () in
    let t = first_waits p in
    let first, processes = scenario t p box in
    (first, processes, [ Any t ], fun () -> Promise.waiters p)
  in
  check "a choice waits, the forcer goes on, and the other alternative"
    ( choices @@ fun t p box ->
      ([ force "a" t; choose "c" t box ], [ fill p 1; put box 7 ]) )
    [ "a=1 c=1 | 1 runs=1"; "a=1 c=7 | 1 runs=1" ];
  check "a choice waits, the forcer is cancelled, and the other alternative"
    ( choices @@ fun t _ box ->
      let a = force "a" t in
      ([ a; choose "c" t box ], [ Cancel a; put box 7; Run (force "b" t) ]) )
    [ "a=cancelled c=2 b=2 | 2 runs=2"; "a=cancelled c=7 b=2 | 2 runs=2" ];
  check "a choice comes, the forcer is cancelled"
    ( choices @@ fun t _ box ->
      let a = force "a" t in
      ([ a ], [ Cancel a; put box 7; Run (choose "c" t box) ]) )
    [ "a=cancelled c=7 | unforced runs=1" ];
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
  (* [b] forces [y] and waits for [z], which [c] forces. After [b] was unwound, [c]
     needs [x], which [a] forces, which needs [y]. *)
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
  (* [a] forces [x] which tries to force [y], and then waits for a promise. *)
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
