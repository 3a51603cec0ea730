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
}

let new_shared conditions =
  { common = Stdlib.Mutex.create (); process = Unix.getpid (); conditions }

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

   A thread that is not asleep yet is released by one step. [mutex] and [condition] are written before the thread is Asleep; a thread that was interrupted stays
   so, and may sleep again. All threads of a domain share the mutex: with one for each, a
   round trip between two of them takes half as long again. To signal a condition that
   another thread has since is a spurious wake-up there.

   In the child of a fork, the parent's mutex may be held by a thread that the child does
   not have. Then so is whoever slept there, or it is the thread that forked, in a signal
   handler: released by one step, it sees that before it sleeps in the child. *)
type state = Awake | Asleep | Released

type t = {
  state : state Atomic.t;
  mutable shared : shared;
  mutable condition : Stdlib.Condition.t;
}

let nothing_shared = new_shared { free = Atomic.make []; all = Atomic.make [] }
let no_condition = Stdlib.Condition.create ()

let create () =
  {
    state = Atomic.make Awake;
    shared = nothing_shared;
    condition = no_condition;
  }

let is_released t = Atomic.get t.state = Released
let is_of_process shared = shared.process = Unix.getpid ()

(* The child of a fork has a mutex of its own, before any of its threads sleeps. *)
let shared_in_process () =
  let before = Domain.DLS.get of_domain in
  if is_of_process before then before
  else begin
    let shared = new_shared before.conditions in
    Domain.DLS.set of_domain shared;
    shared
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

(* [false] if a thread has it that is in another process. *)
let lock shared =
  Stdlib.Mutex.try_lock shared.common
  || is_of_process shared
     && begin
       (* The calling thread must not wait for one that has a mutex while it has one
          itself. *)
       ignore (try_unlock (Domain.DLS.get of_domain).common : bool);
       Stdlib.Mutex.lock shared.common;
       true
     end

(* Is not recursive: else the compiler would have it poll as it begins, where a handler may
   raise, and the mutex stay locked. [false] if the mutex was taken away. *)
let sleep_locked t mutex condition =
  t.condition <- condition;
  match
    ignore (Atomic.compare_and_set t.state Awake Asleep : bool);
    while not (is_released t) do
      Stdlib.Condition.wait condition mutex
    done
  with
  | () ->
      ignore (try_unlock mutex : bool);
      true
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      let was_taken_away = not (try_unlock mutex) in
      match e with
      | Sys_error _ when was_taken_away -> false
      | e -> Printexc.raise_with_backtrace e backtrace)

let rec wait t condition =
  let shared = shared_in_process () in
  (* [release] may be about to read it, if the thread was interrupted. *)
  if t.shared != shared then t.shared <- shared;
  if not (lock shared && sleep_locked t shared.common condition) then
    (* or a signal handler forked *)
    wait t condition

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
  if not (is_released t) then sleep t (Domain.DLS.get of_domain).conditions

(* What the thread needs to wake up is read before it is released: then it may be gone. *)
let rec wake t =
  let shared = t.shared in
  if lock shared then begin
    (* no handler runs before the mutex is unlocked *)
    Atomic.set t.state Released;
    let condition = t.condition in
    Stdlib.Mutex.unlock shared.common;
    Stdlib.Condition.signal condition
  end
  else begin
    Atomic.set t.state Released;
    if t.shared != shared then (* it sleeps in this process since *) wake t
  end

let rec release t =
  if not (Atomic.compare_and_set t.state Awake Released) then
    if Atomic.get t.state = Asleep then
      match wake t with
      | () -> ()
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          release t;
          Printexc.raise_with_backtrace e backtrace
