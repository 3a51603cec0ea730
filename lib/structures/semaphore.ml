(* [t], the only Atomic here

   State       Left by           To              By whom
   Free n      acquire, n > 0  * Free (n - 1)    any task
               release         * Free (n + 1)    any task
   Queue ws    release           Queue (ws - w), or Free 0
                                                 any task, if ws = w::_; it calls w

   and waiters come to [ws], if there is no permit, and withdraw.

   * linearises the operation of the task that does it. An acquire that waited, and
   the release that serves it, linearise when the resumer answers [true]: the permit
   passes from one to the other, so that no task overtakes. If the resumer refuses,
   the release goes on. *)
type state = Free of int | Queue of (unit, unit) Waiters.t
type t = state Atomic.t

(* States with few permits are shared, because then a task neither allocates one nor fetches
   it from the core that has allocated it. *)
let few = 64
let shared = Array.init (few + 1) (fun n -> Free n)
let free n = if n <= few then Array.unsafe_get shared n else Free n
let make n = Labels.made ~kind:"semaphore" (Atomic.make (free n))
let none = free 0
let one = free 1
let queued waiters = if Waiters.is_empty waiters then none else Queue waiters

(* --- Steps ---------------------------------------------------------------- *)

let acquire_step () : _ -> _ Step.t = function
  | Free n when n > 0 -> Return (free (n - 1), ())
  | Free _ | Queue _ -> Wait

let[@inline] release : _ -> _ Step.t = function
  | Free n -> Return (free (n + 1), ())
  | Queue waiters ->
      Hand_over
        {
          state = queued (Waiters.tail waiters);
          waiter = Waiters.head waiters;
          outcome = Ok ();
          accepted = Step.finished;
          refused = Again;
        }

let overflow = Sys_error "Semaphore.Counting.release: overflow"

let release_counting () : _ -> _ Step.t = function
  | Free n when n = max_int -> Raise overflow
  | state -> release state

let release_binary () : _ -> _ Step.t = function
  | Free n as state when n > 0 -> Return (state, ())
  | state -> release state

(* --- Who waits ------------------------------------------------------------ *)

let queue change w = function
  | Free n as state when n > 0 -> state
  | Free _ -> queued (change Waiters.empty w)
  | Queue waiters -> queued (change waiters w)

let permits t =
  match Atomic.get t with
  | Free n -> Printf.sprintf "%d permits left" n
  | Queue _ -> "0 permits left"

let acquiring =
  {
    Operation.default with
    name = "Semaphore.Counting.acquire";
    state = permits;
    spin = Before;
    how =
      By_steps
        { word = Fun.id; step = acquire_step; queue; left = Step.finished };
  }

let acquiring_binary = { acquiring with name = "Semaphore.Binary.acquire" }

(* --- Operations ------------------------------------------------------------- *)

let[@inline] try_acquire t =
  match Atomic.get t with
  | Free n as before
    when n > 0 && Atomic.compare_and_set t before (free (n - 1)) ->
      true
  | Free n when n > 0 -> Option.is_some (Step.attempt t acquire_step ())
  | Free _ | Queue _ -> false

let waiters t =
  match Atomic.get t with
  | Free _ -> 0
  | Queue waiters -> Waiters.length waiters

module Counting = struct
  type nonrec t = t

  let make n =
    if n < 0 then invalid_arg "Semaphore.Counting.make: negative value";
    make n

  let try_acquire t = try_acquire t
  let acquire t = if not (try_acquire t) then Operation.wait acquiring t ()
  let acquire_evt t = Event.make acquiring t ()

  let[@inline] released t () =
    match Atomic.get t with
    | Free n as before ->
        n < few && Atomic.compare_and_set t before (free (n + 1))
    | Queue _ -> false

  let release t = if not (released t ()) then Step.surely t release_counting ()

  let with_permit t f =
    acquire t;
    Step.within ~fast:released t release_counting () f

  let get_value t = match Atomic.get t with Free n -> n | Queue _ -> 0
  let waiters = waiters
end

module Binary = struct
  type nonrec t = t

  let make available = make (Bool.to_int available)
  let try_acquire t = try_acquire t

  let acquire t =
    if not (try_acquire t) then Operation.wait acquiring_binary t ()

  let acquire_evt t = Event.make acquiring_binary t ()
  let[@inline] released t () = Atomic.compare_and_set t none one
  let release t = if not (released t ()) then Step.surely t release_binary ()

  let with_permit t f =
    acquire t;
    Step.within ~fast:released t release_binary () f

  let waiters = waiters
end
