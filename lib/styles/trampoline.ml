include Boxes

let style = Group.style ~name:"Trampoline" ignore

module Wait = Indirect.Make (struct
  type data = unit

  let style = style
end)

let ( >>= ) operation k = operation k

(* --- Threads ---------------------------------------------------------------- *)

let spawn f = Group.spawn style f
let close operation () = operation ignore
let yield k = Group.enqueue (Group.running style) k
let skip k = k ()
let halt () = ()
let stop () = Group.stop style
let rec run group = if Group.turn group then run group
let start () = Wait.start run

(* --- Waiting ---------------------------------------------------------------- *)

let put_mvar = Wait.put_mvar
let take_mvar = Wait.take_mvar
let take_fifo = Wait.take_fifo
let sync = Wait.sync
let direct = Wait.direct
