(* [Lwt.cancel] withdraws the waiter, and loses no value. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax
open Support

let run = Concord_lwt.run
(* --- Each operation ------------------------------------------------------- *)

let each_case f =
  run @@ fun () ->
  (* Each operation gets its own turn, because in a long turn an operation doesn't begin at
     once. *)
  let each (name, make) =
    Lwt.bind (Lwt.pause ()) (fun () -> f name (make ()))
  in
  Lwt_list.iter_s each Cases.monadic

let withdrawn () =
  each_case @@ fun name { Waits.wait; waiters; wake; kept; _ } ->
  let p = wait () in
  int (name ^ ": one waits") 1 (waiters ());
  Lwt.cancel p;
  int (name ^ ": withdrawn") 0 (waiters ());
  yes (name ^ ": cancelled") (is_cancelled p);
  wake ();
  yes (name ^ ": nothing is lost") (kept ());
  Lwt.return_unit

(* Two tasks of some operations don't wait for the same thing. *)
let may_wait_twice = function
  | "Condition.wait" | "Lazy.force, computing" | "Lazy.force_val, computing" ->
      false
  | name -> not (String.starts_with ~prefix:"Barrier.await" name)

(* The waiter behind a cancelled one is served. *)
let next_in_turn () =
  each_case @@ fun name { Waits.wait; waiters; wake; _ } ->
  if not (may_wait_twice name) then Lwt.return_unit
  else
    let first = wait () in
    let second = wait () in
    Lwt.cancel first;
    yes (name ^ ": cancelled") (is_cancelled first);
    int (name ^ ": one is left") 1 (waiters ());
    wake ();
    let+ ok = second in
    yes (name ^ ": the other has its value") ok

(* The task is resumed, and cancelled before the loop has seen that. *)
type cancelled =
  | Undone  (** What the task was given is there again. *)
  | Done  (** What the task has put stays. *)
  | Performed  (** It can't be undone, so the promise has its value. *)

let expected name =
  let parts = List.map String.trim (String.split_on_char ',' name) in
  match List.hd parts with
  | "Mvar.put" | "Stream.add" | "Channel.send" | "Work_queue.add"
  | "Broadcast.send" ->
      Done
  | _ when List.mem "computing" parts ->
      (* its computation waits for a promise *) Undone
  | "Mvar.swap" | "Mvar.modify" | "Barrier.await" | "Lazy.force"
  | "Lazy.force_val" | "Condition.loop_no_mutex" ->
      Performed
  | ("Pool.use" | "Pool.obtain") when List.length parts > 1 -> Performed
  | _ -> Undone

let shown = function
  | Undone -> "undone"
  | Done -> "done"
  | Performed -> "performed"

let resumed_before () =
  each_case @@ fun name { Waits.wait; wake; waiters; kept; _ } ->
  let p = wait () in
  wake ();
  Lwt.cancel p;
  (* A value that came back to a channel waits there as if its sender did. *)
  let is_there_again = String.starts_with ~prefix:"Channel.receive" name in
  int (name ^ ": no task waits") (if is_there_again then 1 else 0) (waiters ());
  let is name expected found =
    Alcotest.(check string) name (shown expected) (shown found)
  in
  if is_cancelled p then begin
    is name (expected name) (if kept () || is_there_again then Undone else Done);
    Lwt.return_unit
  end
  else begin
    is name (expected name) Performed;
    let+ ok = p in
    yes (name ^ ": it has its value") ok
  end

(* The same, and a second task waits. If the first one undoes its operation, the second has
   its turn. *)
let resumed_before_another () =
  each_case @@ fun name { Waits.wait; wake; one_by_one; _ } ->
  if not (one_by_one && expected name = Undone && may_wait_twice name) then
    Lwt.return_unit
  else
    let first = wait () in
    let second = wait () in
    wake ();
    Lwt.cancel first;
    yes (name ^ ": cancelled") (is_cancelled first);
    let* () = turns 3 in
    yes (name ^ ": the other continues") (Lwt.state second <> Lwt.Sleep);
    let+ ok = second in
    yes (name ^ ": the other has its value") ok

(* --- What is held --------------------------------------------------------- *)

(* The wait for a signal ends, but the wait for the mutex can't be cancelled. *)
let condition () =
  run @@ fun () ->
  let m = Mutex.create () and c = Condition.create () in
  let has_it = ref false in
  let p =
    Concord_lwt.Mutex.with_lock m @@ fun () ->
    Lwt.finalize
      (fun () -> Concord_lwt.Condition.wait c m)
      (fun () ->
        has_it := Mutex.is_locked m;
        Lwt.return_unit)
  in
  (* Another task holds the mutex when this one is cancelled. *)
  yes "it gave the mutex away" (Mutex.try_lock m);
  Lwt.cancel p;
  int "no signal awaited" 0 (Condition.waiters c);
  int "but the mutex" 1 (Mutex.waiters m);
  Lwt.cancel p;
  int "it stays" 1 (Mutex.waiters m);
  yes "it is not at its end" (Lwt.state p = Lwt.Sleep);
  Mutex.unlock m;
  let* () =
    Lwt.catch
      (fun () -> p)
      (function Lwt.Canceled -> Lwt.return_unit | e -> Lwt.fail e)
  in
  yes "it had the mutex" !has_it;
  no "and released it" (Mutex.is_locked m);
  Lwt.return_unit

(* [Lwt.cancel] reaches the function. *)
let in_brackets () =
  run @@ fun () ->
  In_lwt.each_bracket @@ fun name bracket is_free ->
  let p = bracket (fun () -> fst (Lwt.task ())) in
  no (name ^ ": held") (is_free ());
  Lwt.cancel p;
  yes (name ^ ": cancelled") (is_cancelled p);
  yes (name ^ ": released") (is_free ());
  Lwt.return_unit

let () =
  Check.run "Concord_lwt, cancellation"
    [
      ( "each operation",
        [
          test "is withdrawn" withdrawn;
          test "leaves the turn to the next" next_in_turn;
          test "has its value if it was resumed before" resumed_before;
          test "leaves what it undoes to the next" resumed_before_another;
        ] );
      ( "held locks",
        [
          test "Condition.wait has its mutex again" condition;
          test "functions that hold something" in_brackets;
          test "direct: for good" Cancel_direct.for_good;
          test "Suspend.protect: after all that is protected"
            Cancel_direct.protected_on;
          test "Suspend.protect: no wait comes after it"
            Cancel_direct.protected_last;
          test "resumed before: undone" Cancel_direct.between;
          test "resumed before, and can't be undone" Cancel_direct.performed;
        ] );
      ( "no zombies",
        [
          test "signalled, and waits for the mutex" Cancel_zombies.signalled;
          test "signalled just now" Cancel_zombies.signalled_just_now;
          test "signalled, and no other task waits"
            Cancel_zombies.signalled_alone;
          test "locked just now" Cancel_zombies.locked_just_now;
          test "under load" Cancel_zombies.never_a_zombie;
        ] );
    ]
