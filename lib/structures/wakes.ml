(* A queue of tasks that wait for a condition. It has the states of a {!Bvar}, and uses its
   steps. *)

type wake = Signal | Broadcast
type t = (unit, wake) Waiters.t Atomic.t

let create () = Observer.made ~kind:"condition" (Atomic.make Waiters.empty)
let signal t = ignore (Step.perform t Bvar.signal_step Signal : bool)
let broadcast t = Step.perform t Bvar.broadcast_step (Ok Broadcast)
let push_step w waiters = Step.Return (Waiters.push waiters w, ())
let push t w = Step.perform t push_step w
let waiters t = Waiters.length (Atomic.get t)
