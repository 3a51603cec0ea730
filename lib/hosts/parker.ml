(* [released] changes once, from [false] to [true], under [mutex], which all threads
   of the domain share: with one for each, a round trip between two of them takes half
   as long again. *)
type t = {
  mutex : Stdlib.Mutex.t;
  condition : Stdlib.Condition.t;
  mutable released : bool;
}

type shared = { common : Stdlib.Mutex.t; process : int }

let new_shared () =
  { common = Stdlib.Mutex.create (); process = Unix.getpid () }

let of_domain = Domain.DLS.new_key new_shared

(* The process may be a child, made while a thread that the child does not have held
   the mutex: then no thread unlocks it, and the child needs another one. *)
let create () =
  let { common; process } = Domain.DLS.get of_domain in
  if Stdlib.Mutex.try_lock common then Stdlib.Mutex.unlock common
  else if process <> Unix.getpid () then
    Domain.DLS.set of_domain (new_shared ());
  {
    mutex = (Domain.DLS.get of_domain).common;
    condition = Stdlib.Condition.create ();
    released = false;
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

let rec await t =
  lock t.mutex;
  match
    while not t.released do
      Stdlib.Condition.wait t.condition t.mutex
    done
  with
  | () -> ignore (try_unlock t.mutex : bool)
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      let was_taken_away = not (try_unlock t.mutex) in
      match e with
      | Sys_error _ when was_taken_away -> await t
      | e -> Printexc.raise_with_backtrace e backtrace)

let rec release t =
  match lock t.mutex with
  | () ->
      (* No handler runs before the mutex is unlocked. *)
      t.released <- true;
      Stdlib.Mutex.unlock t.mutex;
      Stdlib.Condition.signal t.condition
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      release t;
      Printexc.raise_with_backtrace e backtrace
