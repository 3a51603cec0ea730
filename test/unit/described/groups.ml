open Results

module Of_latch = struct
  include Latch_spec

  type t = Latch.t

  let create () = Latch.create Latch_spec.initial
  let unless_open f t = try unit (f t) with Invalid_argument _ -> "is open"

  let call t = function
    | Await -> unit (Latch.await t)
    | Count_down -> unless_open Latch.count_down t
    | Count_up -> unless_open Latch.count_up t
    | Count -> int (Latch.count t)
    | Is_open -> bool (Latch.is_open t)

  let event t = function
    | Await -> event unit (Latch.await_evt t)
    | Count_down | Count_up | Count | Is_open -> None

  let try_call _ _ = None
  let waiters = Latch.waiters
end

module Of_barrier (Of : sig
  val parties : int
end) =
struct
  include Barrier_spec.Make (Of)

  type t = Barrier.t

  let create () = Barrier.create Of.parties
  let call t Await = unit (Barrier.await t)
  let event t Await = event unit (Barrier.await_evt t)
  let try_call _ Await = None
  let waiters = Barrier.waiters
end

module Pairs = Of_barrier (struct
  let parties = 2
end)

module Threes = Of_barrier (struct
  let parties = 3
end)

module Of_bvar = struct
  include Bvar_spec

  type t = int Bvar.t

  let create () = Bvar.create ()

  let call t = function
    | Wait -> int (Bvar.wait t)
    | Signal v -> bool (Bvar.signal t v)
    | Broadcast v -> unit (Bvar.broadcast t v)

  let event t = function
    | Wait -> event int (Bvar.wait_evt t)
    | Signal _ | Broadcast _ -> None

  let try_call _ _ = None
  let waiters = Bvar.waiters
end

module Of_condition = struct
  include Condition_spec

  type t = Condition.t

  let create () = Condition.create ()

  let call t = function
    | Wait -> unit (Condition.wait_no_mutex t)
    | Signal -> unit (Condition.signal t)
    | Broadcast -> unit (Condition.broadcast t)

  let event t = function
    | Wait -> event unit (Condition.wait_no_mutex_evt t)
    | Signal | Broadcast -> None

  let try_call _ _ = None
  let waiters = Condition.waiters
end
