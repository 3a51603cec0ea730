(* Mutexes. The scenarios below say who is the owner, how often a task that spins may come, and
   what nudged tasks do. *)

open Actor

let order = Buffer.create 16

let lock ?(evt = false) name mutex =
  make name @@ fun () ->
  if evt then Event.sync (Mutex.lock_evt mutex) else Mutex.lock mutex;
  Buffer.add_string order name;
  Mutex.unlock mutex;
  "ok"

(* This does what [Mutex.lock] does if the owner may be on another domain. *)
let look name mutex =
  make name @@ fun () ->
  let lock_free t owner () =
    if Mutex.try_lock_as t owner then Some () else None
  in
  if Spin.attempt_again 1 lock_free mutex Holders.unknown () 2 = None then
    Nudge.wait Mutex.locking mutex Mutex.anybody;
  Buffer.add_string order name;
  Mutex.unlock mutex;
  "ok"

let keep name mutex =
  make name @@ fun () ->
  Mutex.lock mutex;
  "has"

(* [Mutex.lock_evt] may be tried in [block], outside of the task. *)
let choose name mutex =
  make name @@ fun () ->
  Event.select [ Mutex.lock_evt mutex; Promise.await_evt (Promise.create ()) ];
  "has"

let try_keep name mutex =
  make name (fun () -> if Mutex.try_lock mutex then "has" else "busy")

let try_twice name mutex =
  make name @@ fun () ->
  for _ = 1 to 2 do
    if Mutex.try_lock mutex then begin
      Buffer.add_string order name;
      Mutex.unlock mutex
    end
  done;
  "ok"

let is_of (owner : Holder.t) actor = Who.same owner.by (Model.who actor.task)

(* The host of the model knows its tasks, so no handler has to answer for them. *)
let keep_owners () =
  let caller () = Holder.held (Reach.who ()) in
  let within f = f (caller ())
  and before_lock _ (owner : Holder.t) (caller : Holder.t) ~still_holds:_ =
    if Holder.is_held owner && Who.same owner.by caller.by then
      raise (Sys_error "locked twice")
  in
  Observer.(install { nobody with caller; within; before_lock });
  Observer.(start waits)

(* The task that has the mutex must be recorded as its owner, even if another task passed it
   the mutex. *)
let check_owner owner owners =
  match (owner, owners) with
  | None, [] -> ()
  | Some owner, [ actor ] when is_of owner actor -> ()
  | Some (owner : Holder.t), [] when not (Who.is_known owner.by) ->
      (* the process outside of all tasks *) ()
  | _ -> failwith "the owner is another one"

let is_free mutex = Permits.free_of (Atomic.get mutex) > 0

let live_at_rest mutex =
  let s = Atomic.get mutex in
  if (Permits.rare_of s).promised > 0 then failwith "nudged at rest";
  let live = live (Permits.first_of s) in
  if is_free mutex && live > 0 then
    failwith "a task waits that could have the lock";
  live

let at_rest mutex actors () =
  let owners = List.filter (fun a -> a.result = "has") actors in
  all_queued actors [ live_at_rest mutex ];
  let content =
    if is_free mutex then "unlocked"
    else begin
      if Observer.are_kept () then
        check_owner (Mutex.owner_of mutex :> Holder.t option) owners;
      "locked"
    end
  in
  if List.length owners > 1 then failwith "two have the mutex";
  describe actors ^ " " ^ Buffer.contents order ^ " " ^ content

let check_made create name make expect =
  Model.check name ~expect @@ fun () ->
  Buffer.clear order;
  let mutex = create () in
  let first, processes = make mutex in
  let processes, actors = start first processes in
  (processes, at_rest mutex actors)

(* Locks [mutex], and returns the process that unlocks it. *)
let owned mutex =
  Mutex.lock mutex;
  Do (fun () -> Mutex.unlock mutex)

(* Each waiter unlocks the mutex again, or keeps it. The scenarios that follow from the
   description don't know the owners. *)
let cancellations () =
  let create () =
    Buffer.clear order;
    let mutex = Mutex.create () in
    Mutex.lock mutex;
    mutex
  in
  let check = Cancellations.check ~create ~serve:Mutex.unlock ~at_rest in
  let locks evt _ name m = lock ~evt name m in
  check "lock, owners are kept" ~three:Model.long ~service:All
    [ ("", locks false); (", an event", locks true) ]
    ~served:"ok"
    ~rest:(fun served ->
      Printf.sprintf " %s unlocked"
        (String.concat "" (List.map Cancellations.name served)));
  check "lock and keep it, owners are kept"
    [ ("", fun _ -> keep); (", in a choice", fun _ -> choose) ]
    ~served:"has"
    ~rest:(function [] -> "  unlocked" | _ -> "  locked")

let check_owners check =
  check "two lock, one is cancelled"
    (fun m ->
      let a = lock "a" m in
      ([], [ Run a; Run (lock "b" m); Cancel a ]))
    [
      "a=cancelled b=ok b unlocked";
      "a=ok b=ok ab unlocked";
      "a=ok b=ok ba unlocked";
    ];
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
  check "one waits for one of two, is cancelled"
    (fun m ->
      let owner = owned m in
      let a = choose "a" m in
      ([ a ], [ owner; Run (keep "b" m); Cancel a ]))
    [ "a=cancelled b=has  locked"; "a=has b=waits  locked" ]

let check_looks check =
  check "two spin, one is cancelled"
    (fun m ->
      let a = look "a" m in
      ([], [ Run a; Run (look "b" m); Cancel a ]))
    [
      "a=cancelled b=ok b unlocked";
      "a=ok b=ok ab unlocked";
      "a=ok b=ok ba unlocked";
    ];
  check "one spins, the owner unlocks, another tries"
    (fun m ->
      let owner = owned m in
      ([], [ Run (look "a" m); owner; Run (try_keep "b" m) ]))
    [ "a=ok b=busy a unlocked"; "a=ok b=has a locked"; "a=waits b=has  locked" ];
  check "one waits, another spins, and does not overtake"
    (fun m ->
      let owner = owned m in
      let a = lock "a" m in
      ([ a ], [ owner; Run (look "b" m) ]))
    [ "a=ok b=ok ab unlocked" ];
  check "one waits and is cancelled, another spins"
    (fun m ->
      let owner = owned m in
      let a = lock "a" m in
      ([ a ], [ owner; Run (look "b" m); Cancel a ]))
    [ "a=cancelled b=ok b unlocked"; "a=ok b=ok ab unlocked" ]

(* The waiters are tasks of sleeping threads, so they are nudged. If it is [late] as soon as a
   task was nudged, no other task overtakes it. *)
let check_nudged check ~late =
  let unless_late outcomes = if late then [] else outcomes in
  check "a sleeper waits, another comes"
    (fun m ->
      let owner = owned m in
      let a = lock "a" m in
      ([ a ], [ owner; Run (lock "b" m) ]))
    ([ "a=ok b=ok ab unlocked" ] @ unless_late [ "a=ok b=ok ba unlocked" ]);
  (* One task may overtake, even if the sleeper comes in vain in between. *)
  check "a sleeper waits, another tries twice"
    (fun m ->
      let owner = owned m in
      ([ lock "a" m ], [ owner; Run (try_twice "b" m) ]))
    ([
       "a=ok b=ok a unlocked"; "a=ok b=ok ab unlocked"; "a=ok b=ok abb unlocked";
     ]
    @ unless_late [ "a=ok b=ok ba unlocked"; "a=ok b=ok bab unlocked" ]);
  check "two sleepers wait, the first is cancelled"
    (fun m ->
      let owner = owned m in
      let a = lock "a" m and b = lock "b" m in
      ([ a; b ], [ owner; Cancel a ]))
    [ "a=cancelled b=ok b unlocked"; "a=ok b=ok ab unlocked" ]

let check_nudged_once check =
  check "a sleeper waits, another tries, the sleeper is cancelled"
    (fun m ->
      let owner = owned m in
      let a = keep "a" m in
      ([ a ], [ owner; Run (try_keep "b" m); Cancel a ]))
    [
      "a=cancelled b=busy  unlocked";
      "a=cancelled b=has  locked";
      "a=has b=busy  locked";
      "a=waits b=has  locked";
    ]

let twice name m =
  make name @@ fun () ->
  Mutex.lock m;
  match Mutex.lock m with
  | () -> "twice"
  | exception Sys_error _ ->
      Buffer.add_string order name;
      Mutex.unlock m;
      "refused"

module Described_mutex = Described.Make (Exclusion.Of_mutex)

let () =
  Described_mutex.some 30 ~at_rest:(fun m -> ignore (live_at_rest m : int));
  check_looks (check_made Mutex.create);
  Sleeper.asleep := true;
  check_nudged ~late:false (check_made Mutex.create);
  Sleeper.step_ns := 2 * Nudge.patience_ns;
  check_nudged ~late:true (fun name ->
      check_made Mutex.create (name ^ ", soon late"));
  Sleeper.step_ns := 0;
  check_nudged_once (check_made Mutex.create);
  Sleeper.asleep := false;
  keep_owners ();
  cancellations ();
  check_owners (fun name ->
      check_made Mutex.create (name ^ ", owners are kept"));
  check_made Mutex.create "two lock, one of them twice"
    (fun m ->
      let b = lock "b" m in
      ([], [ Run (twice "a" m); Run b; Cancel b ]))
    [
      "a=refused b=cancelled a unlocked";
      "a=refused b=ok ab unlocked";
      "a=refused b=ok ba unlocked";
    ];
  Model.finish ()
