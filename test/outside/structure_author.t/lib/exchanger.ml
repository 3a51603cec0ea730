open Concord
open Structure_kit

(* [t], the only Atomic here

   State     Left by              To           By whom
   queue ws  exchange, ws = w::_  ws - w     * any task; it calls w
             a waiter             ws, w        the task that waits
             cancelled waiter     ws - w       the task that enlisted it

   * linearises both exchanges, if the resumer answers [true]; else nothing has happened,
   but that the waiter is gone.

   Only waiters of one choice are in the queue together, or those that are gone. *)
type 'a t = ('a, 'a) Waiters.t Atomic.t

let create () = Atomic.make Waiters.empty

let rec attempt t v =
  let waiters = Atomic.get t in
  if Waiters.is_empty waiters then None
  else
    let w = Waiters.head waiters in
    let received = Some w.arg in
    if
      Atomic.compare_and_set t waiters (Waiters.tail waiters)
      && Waiter.resume w (Ok v)
    then received
    else (* another task came, or the waiter refused *) attempt t v

(* A waiter of the same choice is no partner: a task would exchange with itself. *)
let rec enlist t w =
  let waiters = Atomic.get t in
  (not (Waiters.has_partner waiters w))
  && (Atomic.compare_and_set t waiters (Waiters.push waiters w) || enlist t w)

let withdraw t _ = update t Waiters.count_gone
let exchanging = { attempt; enlist; withdraw }

let exchange t v =
  match attempt t v with Some v -> v | None -> wait exchanging t v

let exchange_evt t v = Event.make exchanging t v
let waiters t = Waiters.length (Atomic.get t)
