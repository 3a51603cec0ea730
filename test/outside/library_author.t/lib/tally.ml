open Concord_core

type t = {
  mutex : Mutex.t;
  changed : Condition.t;
  permits : Semaphore.Counting.t;
  closed : unit Promise.t;
  mutable n : int;
}

let create ?(mutex = Mutex.create ()) ~at_once () =
  {
    mutex;
    changed = Condition.create ();
    permits = Semaphore.Counting.make at_once;
    closed = Promise.create ();
    n = 0;
  }

let add t work =
  Semaphore.Counting.acquire t.permits;
  Fun.protect ~finally:(fun () -> Semaphore.Counting.release t.permits) work;
  Mutex.protect t.mutex (fun () ->
      t.n <- t.n + 1;
      Condition.broadcast t.changed)

let await t n =
  Mutex.protect t.mutex (fun () ->
      while t.n < n do
        Condition.wait t.changed t.mutex
      done)

(* A choice between the end and a timeout. *)
let closes_within seconds t =
  Event.select
    [
      Event.wrap (Promise.await_evt t.closed) (fun () -> true);
      Event.wrap (Event.timeout seconds) (fun () -> false);
    ]

let closed t = t.closed
let close t = ignore (Promise.try_fill t.closed () : bool)
