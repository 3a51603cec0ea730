(* Tasks that Miou.cancel cancels, and what they can still do. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let never () : unit = Event.sync Event.never

(* Runs [f] in a task that is cancelled as soon as [waits ()] is true. *)
let cancelled ?(where = fun f -> Miou.async f) ~waits f =
  let task = where f in
  In_miou.eventually "it waits" waits;
  Miou.cancel task

let raises_cancelled f =
  match f () with
  | _ -> Alcotest.fail "it was not cancelled"
  | exception Miou.Cancelled -> ()

(* --- Nothing is changed ----------------------------------------------------------- *)

let take where () =
  In_miou.run_on 1 @@ fun () ->
  let box = Mvar.create_empty () and told = ref false in
  cancelled ~where
    ~waits:(fun () -> Mvar.waiters box = 1)
    (fun () ->
      raises_cancelled (fun () -> Mvar.take box);
      told := true);
  yes "told" !told;
  int "withdrawn" 0 (Mvar.waiters box);
  Mvar.put box 1;
  yes "the value stays" (Mvar.try_take box = Some 1)

let others_keep_their_turn () =
  In_miou.run @@ fun () ->
  let box = Mvar.create_empty () and got = ref [] in
  let take name () =
    let v = Mvar.take box in
    got := (name, v) :: !got
  in
  let tasks = List.map (fun name -> Miou.async (take name)) [ "a"; "b"; "c" ] in
  In_miou.eventually "they wait" (fun () -> Mvar.waiters box = 3);
  Miou.cancel (List.nth tasks 1);
  Mvar.put box 1;
  Mvar.put box 2;
  List.iter (fun i -> Miou.await_exn (List.nth tasks i)) [ 0; 2 ];
  yes "in turn" (List.rev !got = [ ("a", 1); ("c", 2) ])

(* The task was resumed, and is cancelled before it continues. *)
let resumed_before () =
  In_miou.run_on 0 @@ fun () ->
  let box = Mvar.create_empty () and got = ref 0 in
  let task = Miou.async (fun () -> got := Mvar.take box) in
  In_miou.eventually "it waits" (fun () -> Mvar.waiters box = 1);
  Mvar.put box 1;
  Miou.cancel task;
  int "it has its value" 1 !got

(* --- Races ------------------------------------------------------------------------- *)

(* Another domain puts one value after the other, while takers are cancelled. If the other
   domain was always ahead, there was no race, so the test is repeated. *)
let rec race ~patience where () =
  if In_miou.run_on 1 (race_once ~patience where) = 0 then
    race ~patience where ()

(* Returns how many takers got nothing. *)
and race_once ~patience where () =
  let box = Mvar.create_empty () and n = 500 in
  let pauses = Race.random 2 in
  let put () =
    for i = 1 to n do
      for _ = 1 to Random.State.int pauses 3_000 do
        Domain.cpu_relax ()
      done;
      Mvar.put box i
    done
  in
  let producer = domain put in
  let got = Atomic.make [] and gave_up = ref 0 in
  let random = Race.random 1 in
  let add v = Structure_kit.update got (List.cons v) in
  let count () = List.length (Atomic.get got) in
  while count () < n do
    let before = count () in
    let task = where (fun () -> add (Mvar.take box)) in
    for _ = 1 to Random.State.int random patience do
      Miou.yield ()
    done;
    Miou.cancel task;
    if count () = before then incr gave_up
  done;
  producer ();
  yes "each once, in order" (List.rev (Atomic.get got) = List.init n succ);
  int "no task waits" 0 (Mvar.waiters box);
  !gave_up

(* --- Clean-ups ----------------------------------------------------------------------- *)

(* [wait] is cancelled while its task holds the mutex, for which another task waits. *)
let unlocks wait () =
  In_miou.run @@ fun () ->
  let mutex = Mutex.create () and inside = ref false in
  let holder =
    Miou.async (fun () ->
        Mutex.protect mutex (fun () ->
            inside := true;
            wait ()))
  in
  In_miou.eventually "it is inside" (fun () -> !inside);
  let next = Miou.async (fun () -> Mutex.protect mutex ignore) in
  In_miou.eventually "the next one waits" (fun () -> Mutex.waiters mutex = 1);
  Miou.cancel holder;
  Miou.await_exn next;
  no "unlocked" (Mutex.is_locked mutex)

let goes_on_raising () =
  In_miou.run @@ fun () ->
  let box = Mvar.create_empty () and ended = ref false in
  cancelled
    ~waits:(fun () -> Mvar.waiters box = 1)
    (fun () ->
      raises_cancelled (fun () -> Mvar.take box);
      raises_cancelled (fun () -> Mvar.take box);
      raises_cancelled Tasks.yield;
      yes "cancelled" (Tasks.is_cancelled ());
      (* Operations that don't have to wait are performed. *)
      let full = Mvar.create 1 in
      int "taken" 1 (Mvar.take full);
      Mailbox.add (Mailbox.create ()) ();
      ended := true);
  yes "it came to its end" !ended;
  no "the others are not" (Tasks.is_cancelled ());
  Tasks.yield ()

(* The mutex is free, or a thread holds it for a while. *)
let condition ~held () =
  In_miou.run @@ fun () ->
  let mutex = Mutex.create () and changed = Condition.create () in
  let had_it = ref false and is_held = Atomic.make false in
  let waiter () =
    Mutex.protect mutex @@ fun () ->
    try Condition.wait changed mutex
    with e ->
      had_it := Mutex.is_locked mutex && not (Atomic.get is_held);
      raise e
  in
  let waits () =
    Condition.waiters changed = 1 && ((not held) || Atomic.get is_held)
  and hold () =
    eventually "it waits" (fun () -> Condition.waiters changed = 1);
    Mutex.lock mutex;
    Atomic.set is_held true;
    Thread.delay 0.05;
    Atomic.set is_held false;
    Mutex.unlock mutex
  in
  let join = if held then thread hold else ignore in
  cancelled ~waits waiter;
  join ();
  yes "locked again" !had_it;
  no "unlocked" (Mutex.is_locked mutex)

(* --- At effects of Miou's own ------------------------------------------------------------ *)

let asleep () = Miou_unix.sleep 60.

(* The next task computes it. *)
let lazy_value () =
  In_miou.run @@ fun () ->
  let runs = ref 0 in
  let x =
    Lazy.from_fun (fun () ->
        incr runs;
        if !runs = 1 then asleep ();
        5)
  in
  let first = Miou.async (fun () -> ignore (Lazy.force x : int)) in
  In_miou.eventually "it computes" (fun () -> !runs = 1);
  let second = Miou.async (fun () -> Lazy.force x) in
  In_miou.eventually "the other one waits" (fun () -> Lazy.waiters x = 1);
  Miou.cancel first;
  int "value" 5 (Miou.await_exn second)

let scope () =
  In_miou.run @@ fun () ->
  let unwound = ref 0 and begun = ref 0 in
  let waits () =
    incr begun;
    Fun.protect never ~finally:(fun () -> incr unwound)
  in
  cancelled
    ~waits:(fun () -> !begun = 2)
    (fun () -> ignore (Tasks.both waits waits : unit * unit));
  int "unwound" 2 !unwound

(* A cancelled parent ends its children. *)
let children () =
  In_miou.run @@ fun () ->
  let p : unit Promise.t = Promise.create () in
  cancelled
    ~waits:(fun () -> Promise.waiters p = 2)
    (fun () ->
      let child = Miou.async (fun () -> Promise.await p) in
      Promise.await p;
      Miou.await_exn child);
  int "withdrawn" 0 (Promise.waiters p)

let suites =
  [
    ( "cancelled",
      [
        test "it has taken nothing" (take (fun f -> Miou.async f));
        test "in another domain" (take (fun f -> Miou.call f));
        test "others keep their turn" others_keep_their_turn;
        test "resumed before" resumed_before;
        test "in a race" (race ~patience:30 (fun f -> Miou.async f));
        test "in a race, in another domain"
          (race ~patience:1_000 (fun f -> Miou.call f));
        test "with its children" children;
        test "with a scope" scope;
      ] );
    ( "what was cancelled",
      [
        test "unlocks" (unlocks never);
        test "unlocks, cancelled in Miou" (unlocks asleep);
        test "continues, but can't wait" goes_on_raising;
        test "has the condition's mutex" (condition ~held:false);
        test "has the condition's mutex, later" (condition ~held:true);
        test "leaves a lazy value to the next" lazy_value;
      ] );
  ]
