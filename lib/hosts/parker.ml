(* The condition variables of a domain. To destroy one on which a thread waits blocks the
   calling thread, for ever if it is the child of a fork, where the waiting thread does not
   exist. So none of them is collected while its domain lives: those that no thread waits
   on are used again.

   [free], [all]: lists from which threads take, and to which they add. *)
type conditions = {
  free : Stdlib.Condition.t list Atomic.t;
  all : Stdlib.Condition.t list Atomic.t;
}

type shared = {
  common : Stdlib.Mutex.t;
  process : int;
  conditions : conditions;
  spin : Spin.t;
}

let new_shared conditions =
  {
    common = Stdlib.Mutex.create ();
    process = Unix.getpid ();
    conditions;
    spin = Spin.create ();
  }

let of_domain =
  Domain.DLS.new_key (fun () ->
      new_shared { free = Atomic.make []; all = Atomic.make [] })

let rec take conditions =
  match Atomic.get conditions.free with
  | [] ->
      let condition = Stdlib.Condition.create () in
      Atomically.update conditions.all (List.cons condition);
      condition
  | condition :: free as before ->
      if Atomic.compare_and_set conditions.free before free then condition
      else take conditions

let give_back conditions condition =
  Atomically.update conditions.free (List.cons condition)

(* [released] changes once, from [false] to [true], under [mutex], which all threads
   of the domain share: with one for each, a round trip between two of them takes half
   as long again. [condition] is the one of the thread that waits, while it does, or was.
   To signal one that another thread has since is a spurious wake-up there. *)
type t = {
  mutex : Stdlib.Mutex.t;
  mutable condition : Stdlib.Condition.t;
  released : bool Atomic.t;
}

let nobody = Stdlib.Condition.create ()

(* The process may be a child, made while a thread that the child does not have held
   the mutex: then no thread unlocks it, and the child needs another one. *)
let create () =
  let { common; process; conditions; _ } = Domain.DLS.get of_domain in
  if Stdlib.Mutex.try_lock common then Stdlib.Mutex.unlock common
  else if process <> Unix.getpid () then
    Domain.DLS.set of_domain (new_shared conditions);
  {
    mutex = (Domain.DLS.get of_domain).common;
    condition = nobody;
    released = Atomic.make false;
  }

(* OCaml calls signal handlers and finalisers at allocations and polls, and before a
   call blocks. So one may run on top of [Condition.wait] in [await], in a thread that
   has the mutex of its domain, and will sleep without another look at [released]. It
   takes the mutex away from that [await], which notices, and begins again: OCaml's
   mutexes check that their owner unlocks them, and POSIX makes [Condition.wait] fail
   too. *)

let try_unlock mutex =
  match Stdlib.Mutex.unlock mutex with
  | () -> true
  | exception Sys_error _ -> false

let lock mutex =
  if not (Stdlib.Mutex.try_lock mutex) then begin
    (* The calling thread must not wait for one that has a mutex while it has one
       itself. *)
    ignore (try_unlock (Domain.DLS.get of_domain).common : bool);
    Stdlib.Mutex.lock mutex
  end

let rec wait t condition =
  lock t.mutex;
  t.condition <- condition;
  match
    while not (Atomic.get t.released) do
      Stdlib.Condition.wait condition t.mutex
    done
  with
  | () -> ignore (try_unlock t.mutex : bool)
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      let was_taken_away = not (try_unlock t.mutex) in
      match e with
      | Sys_error _ when was_taken_away -> wait t condition
      | e -> Printexc.raise_with_backtrace e backtrace)

(* A signal handler may raise before it is given back: then it is used no more. *)
let sleep t conditions =
  let condition = take conditions in
  match wait t condition with
  | () -> give_back conditions condition
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      give_back conditions condition;
      Printexc.raise_with_backtrace e backtrace

let await t =
  let { conditions; spin; _ } = Domain.DLS.get of_domain in
  if
    not
      (Atomic.get t.released
      || Spin.until spin (fun () -> Atomic.get t.released))
  then sleep t conditions

let rec release t =
  match lock t.mutex with
  | () ->
      (* No handler runs before the mutex is unlocked. *)
      Atomic.set t.released true;
      let condition = t.condition in
      Stdlib.Mutex.unlock t.mutex;
      Stdlib.Condition.signal condition
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      release t;
      Printexc.raise_with_backtrace e backtrace
