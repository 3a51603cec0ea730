(* [t], the only Atomic here

   State       Left by           To              By whom
   Free n      acquire, n > 0  * Free (n - 1)    any task
               release         * Free (n + 1)    any task
               a waiter, n = 0   Queue [w]       the task that waits
   Queue ws    a waiter          Queue (ws, w)   the task that waits
               cancelled waiter  Queue (ws - w), or Free 0
                                                 the task that enlisted w
               release           Queue (ws - w), or Free 0
                                                 any task, if ws = w::_; it calls w

   * linearises the operation of the task that does it. An acquire that waited, and
   the release that serves it, linearise when the resumer answers [true]: the permit
   passes from one to the other, so that no task overtakes. If the resumer refuses,
   the release goes on. *)
type state = Free of int | Queue of (unit, unit) Waiters.t
type t = state Atomic.t

(* Those with few permits are shared: they need not be allocated, nor fetched from the core
   that has allocated them. *)
let few = 64
let shared = Array.init (few + 1) (fun n -> Free n)
let free n = if n <= few then Array.unsafe_get shared n else Free n
let make n = Labels.made ~kind:"semaphore" (Atomic.make (free n))
let none = free 0
let queue waiters = if Waiters.is_empty waiters then none else Queue waiters

let rec try_acquire_again t pauses =
  match Atomic.get t with
  | Free n as before ->
      n > 0
      && (Atomic.compare_and_set t before (free (n - 1))
         ||
         (* another acquire or release *)
         try_acquire_again t (Backoff.wait pauses))
  | Queue _ -> false

let try_acquire t = try_acquire_again t Backoff.first

let rec enlist t w =
  match Atomic.get t with
  | Free n as before ->
      n = 0
      && (Atomic.compare_and_set t before (Queue (Waiters.push Waiters.empty w))
         ||
         (* released, or another waiter *)
         enlist t w)
  | Queue waiters as before ->
      Atomic.compare_and_set t before (Queue (Waiters.push waiters w))
      ||
      (* released, another waiter, or a withdrawal *)
      enlist t w

let withdraw t w =
  Operation.leave t w @@ function
  | Free _ as state -> state
  | Queue waiters -> queue (Waiters.count_gone waiters)

let acquiring =
  {
    Operation.name = "Semaphore.acquire";
    spin = Before;
    observe = Waits.unobserved;
    how =
      By_hand
        {
          attempt = (fun t () -> if try_acquire t then Some () else None);
          enlist;
          withdraw;
        };
  }

let acquire t = if not (try_acquire t) then Operation.wait acquiring t ()
let acquire_evt t = Event.make acquiring t ()

(* [full n]: what a release does that finds [n] permits, [most] of them. *)
let rec release_again most full t pauses =
  match Atomic.get t with
  | Free n as before ->
      if n = most then full ()
      else if not (Atomic.compare_and_set t before (free (n + 1))) then
        (* another acquire or release, or a waiter *)
        release_again most full t (Backoff.wait pauses)
  | Queue waiters as before ->
      let w = Waiters.head waiters in
      let after = queue (Waiters.tail waiters) in
      if not (Atomic.compare_and_set t before after && Waiter.resume w (Ok ()))
      then
        (* a waiter came or withdrew; or [w] refused *)
        release_again most full t pauses

let release_up_to most full t = release_again most full t Backoff.first
let get_value t = match Atomic.get t with Free n -> n | Queue _ -> 0

let waiters t =
  match Atomic.get t with
  | Free _ -> 0
  | Queue waiters -> Waiters.length waiters

let with_permit release t f =
  acquire t;
  match f () with
  | v ->
      release t;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      release t;
      Printexc.raise_with_backtrace e backtrace

module Counting = struct
  type nonrec t = t

  let make n =
    if n < 0 then invalid_arg "Semaphore.Counting.make: negative value";
    make n

  let overflow () = raise (Sys_error "Semaphore.Counting.release: overflow")
  let release t = release_up_to max_int overflow t
  let try_acquire = try_acquire
  let acquire = acquire
  let acquire_evt = acquire_evt
  let get_value = get_value
  let waiters = waiters
  let with_permit t f = with_permit release t f
end

module Binary = struct
  type nonrec t = t

  let make available = make (Bool.to_int available)
  let release t = release_up_to 1 ignore t
  let try_acquire = try_acquire
  let acquire = acquire
  let acquire_evt = acquire_evt
  let waiters = waiters
  let with_permit t f = with_permit release t f
end
