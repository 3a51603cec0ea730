open Actor

let order = Buffer.create 16

let lock ?(evt = false) name mutex =
  make name @@ fun () ->
  if evt then Event.sync (Mutex.lock_evt mutex) else Mutex.lock mutex;
  Buffer.add_string order name;
  Mutex.unlock mutex;
  "ok"

let keep name mutex =
  make name @@ fun () ->
  Mutex.lock mutex;
  "has"

let try_keep name mutex =
  make name (fun () -> if Mutex.try_lock mutex then "has" else "busy")

let at_rest mutex actors () =
  let content =
    match Atomic.get mutex with
    | Mutex.Unlocked ->
        all_queued actors [];
        "unlocked"
    | Locked ->
        all_queued actors [];
        "locked"
    | Queue waiters ->
        all_queued actors [ live waiters ];
        "locked"
  in
  let owners = List.filter (fun a -> a.result = "has") actors in
  if List.length owners > 1 then failwith "two have the mutex";
  describe actors ^ " " ^ Buffer.contents order ^ " " ^ content

let check name make expect =
  Model.check name ~expect @@ fun () ->
  Buffer.clear order;
  let mutex = Mutex.create () in
  let first, processes = make mutex in
  let processes, actors = start first processes in
  (processes, at_rest mutex actors)

(* [mutex] is locked, and the owner unlocks it. *)
let owned mutex =
  Mutex.lock mutex;
  Do (fun () -> Mutex.unlock mutex)

let () =
  check "two lock, one is cancelled"
    (fun m ->
      let a = lock "a" m in
      ([], [ Run a; Run (lock "b" m); Cancel a ]))
    [
      "a=cancelled b=ok b unlocked";
      "a=ok b=ok ab unlocked";
      "a=ok b=ok ba unlocked";
    ];
  check "the same, as an event"
    (fun m ->
      let a = lock ~evt:true "a" m in
      ([], [ Run a; Run (lock "b" m); Cancel a ]))
    [
      "a=cancelled b=ok b unlocked";
      "a=ok b=ok ab unlocked";
      "a=ok b=ok ba unlocked";
    ];
  check "three lock"
    (fun m -> ([], [ Run (lock "a" m); Run (lock "b" m); Run (lock "c" m) ]))
    (List.map
       (fun order -> "a=ok b=ok c=ok " ^ order ^ " unlocked")
       [ "abc"; "acb"; "bac"; "bca"; "cab"; "cba" ]);
  check "two wait, the first is cancelled"
    (fun m ->
      let owner = owned m in
      let a = lock "a" m and b = lock "b" m in
      ([ a; b ], [ owner; Cancel a ]))
    [ "a=cancelled b=ok b unlocked"; "a=ok b=ok ab unlocked" ];
  check "two wait, both are cancelled"
    (fun m ->
      let owner = owned m in
      let a = lock "a" m and b = lock "b" m in
      ([ a; b ], [ owner; Cancel a; Cancel b ]))
    [
      "a=cancelled b=cancelled  unlocked";
      "a=cancelled b=ok b unlocked";
      "a=ok b=cancelled a unlocked";
      "a=ok b=ok ab unlocked";
    ];
  check "one waits and keeps it, another comes, the first is cancelled"
    (fun m ->
      let owner = owned m in
      let a = keep "a" m in
      ([ a ], [ owner; Run (keep "b" m); Cancel a ]))
    [ "a=cancelled b=has  locked"; "a=has b=waits  locked" ];
  check "one waits and keeps it, another tries"
    (fun m ->
      let owner = owned m in
      let a = keep "a" m in
      ([ a ], [ owner; Run (try_keep "b" m); Cancel a ]))
    [
      "a=cancelled b=busy  unlocked";
      "a=cancelled b=has  locked";
      "a=has b=busy  locked";
    ];
  Model.finish ()
