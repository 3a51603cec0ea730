(* Lazy values. In the scenarios below the computation ends while tasks come and are cancelled, it
   doesn't wait at all, or it has another policy. *)

open Actor
open Lazy_actor
module Described_lazy = Described.Make (Lazies)

let () =
  Described_lazy.some 10 ~at_rest:(fun { value; _ } ->
      ignore (look (Any value)));
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
  check "two force, and a peek"
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
  check "the forcer waits, and another; the forcer is cancelled or continues"
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
  check "a choice waits, the forcer continues, and the other alternative"
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
  Model.finish ()
