(* A thread passes on its own rest. Each operation that may wait takes a function [k], which is
   the rest of the thread. An operation that need not wait calls [k] at once. An operation that
   must wait passes [k] to the structure, and returns to the loop [run], which bounces to the
   next thread. No continuation is captured, and no stack is switched. A waiting thread
   consists only of its [k]. *)

include Boxes

let style = Group.style ~name:"Trampoline" ignore

module Wait = Indirect.Make (struct
  type data = unit

  let style = style
end)

(* [take_mvar m (fun v -> ...)], written [take_mvar m >>= fun v -> ...]. *)
let ( >>= ) operation k = operation k

(* --- Threads ---------------------------------------------------------------- *)

(* A thread that has not begun is a function. A thread that yields becomes such a function
   again. A thread ends when it calls no further operation. *)
let spawn f = Group.spawn style f
let close operation () = operation ignore
let yield k = Group.enqueue (Group.running style) k
let skip k = k ()
let halt () = ()
let stop () = Loop.stop style
let rec run group = if Group.turn group then run group
let start () = Wait.start run

(* --- Waiting ---------------------------------------------------------------- *)

let put_mvar = Wait.put_mvar
let take_mvar = Wait.take_mvar
let take_fifo = Wait.take_fifo
let sync = Wait.sync
let direct = Wait.direct
