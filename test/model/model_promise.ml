open Actor

exception Boom

let await name p =
  make name @@ fun () ->
  match Promise.await p with v -> string_of_int v | exception Boom -> "boom"

let fill name p v =
  make name @@ fun () ->
  match Promise.fill p v with
  | () -> "ok"
  | exception Promise.Already_filled -> "late"

let fail name p =
  make name (fun () -> if Promise.try_fail p Boom then "ok" else "late")

let peek name p =
  make name @@ fun () ->
  match Promise.peek p with
  | None -> "none"
  | Some (Ok v) -> string_of_int v
  | Some (Error _) -> "boom"

(* What must hold at rest: nobody waits for a promise that is resolved. *)
let at_rest p actors () =
  let queued =
    match Atomic.get p with
    | Promise.Value _ | Failed _ -> 0
    | Waiting waiters -> live waiters
  in
  if count_waiting actors <> queued then failwith "a waiter was lost, or stays";
  if queued = 0 && Promise.waiters p <> 0 then failwith "waiters <> 0 at rest";
  describe actors

let check name make expect =
  Model.check name ~expect @@ fun () ->
  let p = Promise.create () in
  let first, processes = make p in
  let processes, actors = start first processes in
  (processes, at_rest p actors)

let () =
  check "fill, and an await that is cancelled"
    (fun p ->
      let a = await "await" p in
      ([], [ Run a; Run (fill "fill" p 1); Cancel a ]))
    [ "await=1 fill=ok"; "await=cancelled fill=ok" ];
  check "two wait, the first is cancelled"
    (fun p ->
      let a = await "await1" p and b = await "await2" p in
      ([ a; b ], [ Run (fill "fill" p 1); Cancel a ]))
    [ "await1=1 await2=1 fill=ok"; "await1=cancelled await2=1 fill=ok" ];
  check "three wait, two are cancelled, nobody fills"
    (fun p ->
      let a = await "await1" p and b = await "await2" p in
      let c = await "await3" p in
      ([ a; b; c ], [ Cancel a; Cancel b ]))
    [ "await1=cancelled await2=cancelled await3=waits" ];
  check "two wait and are cancelled, a third comes"
    (fun p ->
      let a = await "await1" p and b = await "await2" p in
      ([ a; b ], [ Cancel a; Cancel b; Run (await "await3" p) ]))
    [ "await1=cancelled await2=cancelled await3=waits" ];
  check "a fill and a failure"
    (fun p ->
      let f = fill "fill" p 1 and g = fail "fail" p in
      ([], [ Run f; Run g; Run (await "await" p) ]))
    [ "fill=late fail=ok await=boom"; "fill=ok fail=late await=1" ];
  check "a fill, a second and a look"
    (fun p ->
      let f = fill "fillA" p 1 and g = fill "fillB" p 2 in
      ([], [ Run f; Run g; Run (peek "peek" p) ]))
    [
      "fillA=late fillB=ok peek=2";
      "fillA=late fillB=ok peek=none";
      "fillA=ok fillB=late peek=1";
      "fillA=ok fillB=late peek=none";
    ];
  Model.finish ()
