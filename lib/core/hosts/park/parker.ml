(* The condition variables of a domain. If OCaml destroys one on which a thread waits, the
   calling thread blocks. In the child of a fork it blocks forever, because the waiting thread
   doesn't exist there. So none of them is collected while its domain lives. Those that no
   thread waits on are reused.

   Threads take conditions from [free] and add them to [free] and [all]. *)
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

(* The states of [state]

   State     Left by  To        By whom
   Awake     sleep    Asleep    the thread, with the mutex
             release  Released  any thread
   Asleep    release  Released  any thread, with the mutex, before it signals
   Released  never (terminal)

   If a thread is not asleep yet, one step releases it. [shared] and [condition] are written
   before the thread is Asleep. A thread that was interrupted stays Asleep, and may sleep
   again.

   All threads of a domain share a mutex, which makes a round trip between two of them faster.
   A signal may reach a condition that another
   thread uses by then, which is a spurious wake-up there.

   In the child of a fork, the parent's mutex may be held by a thread that the child doesn't
   have. Usually the thread that slept with that mutex doesn't exist in the child either.
   Otherwise it is the thread that forked, in a signal handler. It is then released without the
   mutex, and sees this before it sleeps in the child. *)
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

(* The child of a fork makes its own mutex before any of its threads sleeps. *)
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

(* OCaml calls signal handlers and finalisers at allocations and polls, and before a call
   blocks. So a handler may run on top of [Condition.wait] in [await], in a thread that has the
   mutex of its domain. If the handler waits too, it needs this mutex, so it takes the mutex
   away from the interrupted [await]. That [await] notices and starts again. It notices because
   OCaml's mutexes check that their owner unlocks them, and because POSIX makes
   [Condition.wait] fail. *)

(* Returns [false] if a thread of another process has the mutex. *)
let lock shared =
  Stdlib.Mutex.try_lock shared.common
  || is_of_process shared
     && begin
       (* While the calling thread has a mutex, it must not wait for another thread that has
          one. *)
       ignore (try_unlock (Domain.DLS.get of_domain).common : bool);
       Stdlib.Mutex.lock shared.common;
       true
     end

(* This function is not recursive. Otherwise the compiler would make it poll at its beginning,
   where a handler may raise, and the mutex would stay locked. It returns [false] if the mutex
   was taken away. *)
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
  (* If the thread was interrupted, [release] may be about to read [shared]. *)
  if t.shared != shared then t.shared <- shared;
  if not (lock shared && sleep_locked t shared.common condition) then
    (* The mutex was taken away, or a signal handler forked. *)
    wait t condition

(* If a signal handler raises before the condition is given back, the condition is not reused. *)
let sleep t conditions =
  let condition = take conditions in
  Backtrace.finally
    (fun () -> wait t condition)
    ~finally:(fun () -> give_back conditions condition)

let await t =
  if not (is_released t) then sleep t (Domain.DLS.get of_domain).conditions

(* Everything that is needed to wake the thread is read before it is released, because
   afterwards the thread may have ended. *)
let rec wake t =
  let shared = t.shared in
  if lock shared then begin
    (* No handler runs before the mutex is unlocked. *)
    Atomic.set t.state Released;
    let condition = t.condition in
    Stdlib.Mutex.unlock shared.common;
    Stdlib.Condition.signal condition
  end
  else begin
    Atomic.set t.state Released;
    if t.shared != shared then
      (* meanwhile the thread has gone to sleep in this process *) wake t
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
