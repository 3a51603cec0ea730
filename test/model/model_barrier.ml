(* Barriers and latches. Their descriptions say everything, except which waiters stay queued.

   Of two parties, no task passes unless the other does. Of three, the others pass without one
   that was cancelled but had not left yet. *)

module Described_latch = Described.Make (Groups.Of_latch)
module Described_pairs = Described.Make (Groups.Pairs)
module Described_threes = Described.Make (Groups.Threes)

let all_live waiters = ignore (Actor.live waiters : int)
let barrier (t : Barrier.t) = all_live (Atomic.get t.waiting)

let latch t =
  match Atomic.get t with
  | Latch.Open -> ()
  | Shut (_, waiters) -> all_live waiters

let () =
  Described_latch.some ~at_rest:latch 8;
  Described_pairs.some ~at_rest:barrier 8;
  Described_threes.some ~at_rest:barrier 8;
  Model.finish ()
