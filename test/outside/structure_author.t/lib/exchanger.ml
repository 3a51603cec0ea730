open Concord
open Concord.Tools
open Structure_kit

(* [t], the only Atomic here

   State     Left by              To           By whom
   queue ws  exchange, ws = w::_  ws - w     * any task, which then calls w

   Waiters are also added to [ws], and withdraw from it.

   * linearises both exchanges, if the resumer answers [true]. Otherwise nothing has happened,
   except that the waiter has left the queue.

   Waiters are in the queue together only if they belong to one choice, or were withdrawn. *)
type 'a t = ('a, 'a) Waiters.t Atomic.t

let create () = Atomic.make Waiters.empty

let exchange_step v waiters : _ Step.t =
  if Waiters.is_empty waiters then Wait
  else
    let w = Waiters.head waiters in
    Hand_over
      {
        state = Waiters.tail waiters;
        waiter = w;
        outcome = Ok v;
        accepted = Done w.arg;
        refused = Again;
      }

let queue change w waiters = change waiters w

let exchanging =
  {
    default with name = "Exchanger.exchange";
    spin = Enlisted;
    how =
      By_steps
        {
          word = Fun.id;
          step = exchange_step;
          queue;
          left = Step.finished;
        };
  }

let exchange t v =
  match attempt exchanging t v with Some v -> v | None -> wait exchanging t v

let exchange_evt t v = Event.make exchanging t v
let waiters t = Waiters.length (Atomic.get t)
