open Stream_nodes

let gathering = Domain_local.make Spin.create_to_gather
let enough = 4

let rec length t =
  let before = Atomic.get t.first in
  let n = last_index t - taken (front before) in
  if Atomic.get t.first == before then n else (* taken from *) length t

let are_items t = length t >= enough
let is_room t = t.capacity - length t >= enough

let[@inline never] items t =
  Spin.gather (Domain_local.get gathering) are_items t

let[@inline never] room t = Spin.gather (Domain_local.get gathering) is_room t
