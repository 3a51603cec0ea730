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

(* [state]

   State     Left by  To        By whom
   Awake     sleep    Asleep    the thread, with the mutex
             release  Released  any thread
   Asleep    release  Released  any thread, with the mutex, before it signals
   Released  never (terminal)

   A thread that looks is released by one step, on what it looks at. [mutex] and
   [condition] are written before the thread is Asleep; a thread that was interrupted stays
   so, and may sleep again. All threads of a domain share the mutex: with one for each, a
   round trip between two of them takes half as long again. To signal a condition that
   another thread has since is a spurious wake-up there. *)
type state = Awake | Asleep | Released

type t = {
  state : state Atomic.t;
  mutable mutex : Stdlib.Mutex.t;
  mutable condition : Stdlib.Condition.t;
}

let no_mutex = Stdlib.Mutex.create ()
let no_condition = Stdlib.Condition.create ()

let create () =
  { state = Atomic.make Awake; mutex = no_mutex; condition = no_condition }

let is_released t = Atomic.get t.state = Released

(* In the child of a fork a mutex may be held by a thread that the child does not have. So
   the child has one of its own, before any of its threads sleeps. *)
let mutex_of_process () =
  let { common; process; conditions; _ } = Domain.DLS.get of_domain in
  if process = Unix.getpid () then common
  else begin
    let shared = new_shared conditions in
    Domain.DLS.set of_domain shared;
    shared.common
  end

let try_unlock mutex =
  match Stdlib.Mutex.unlock mutex with
  | () -> true
  | exception Sys_error _ -> false

(* OCaml calls signal handlers and finalisers at allocations and polls, and before a
   call blocks. So one may run on top of [Condition.wait] in [await], in a thread that
   has the mutex of its domain, and will sleep without another look at [released]. It
   takes the mutex away from that [await], which notices, and begins again: OCaml's
   mutexes check that their owner unlocks them, and POSIX makes [Condition.wait] fail
   too. *)

let lock mutex =
  if not (Stdlib.Mutex.try_lock mutex) then begin
    (* The calling thread must not wait for one that has a mutex while it has one
       itself. *)
    ignore (try_unlock (Domain.DLS.get of_domain).common : bool);
    Stdlib.Mutex.lock mutex
  end

let rec wait t condition =
  let mutex = mutex_of_process () in
  (* [release] may be about to read it, if the thread was interrupted. *)
  if t.mutex != mutex then t.mutex <- mutex;
  lock t.mutex;
  t.condition <- condition;
  match
    ignore (Atomic.compare_and_set t.state Awake Asleep : bool);
    while not (is_released t) do
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
  if not (is_released t || Spin.until spin (fun () -> is_released t)) then
    sleep t conditions

(* What the thread needs to wake up is read before it is released: then it may be gone. *)
let wake t =
  let mutex = t.mutex in
  lock mutex;
  (* no handler runs before the mutex is unlocked *)
  Atomic.set t.state Released;
  let condition = t.condition in
  Stdlib.Mutex.unlock mutex;
  Stdlib.Condition.signal condition

let rec release t =
  if not (Atomic.compare_and_set t.state Awake Released) then
    if Atomic.get t.state = Asleep then
      match wake t with
      | () -> ()
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          release t;
          Printexc.raise_with_backtrace e backtrace
