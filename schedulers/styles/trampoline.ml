(* A thread says itself what comes next: each operation that may wait takes a function [k],
   the rest of the thread. An operation that need not wait calls [k] at once. One that
   must wait leaves [k] to the structure, and returns: to the loop [run], which bounces to
   the next thread. Nothing is captured, no stack is switched, and of a thread that waits
   there is nothing but [k]. *)

include Boxes

let style = Group.style ~name:"Trampoline" ignore

module Wait = Indirect.Make (struct
  type data = unit

  let style = style
end)

(* [take_mvar m (fun v -> ...)], written [take_mvar m >>= fun v -> ...]. *)
let ( >>= ) operation k = operation k

(* --- Threads ---------------------------------------------------------------- *)

(* A thread that has not begun is a function already; to give way is to become one that
   has not gone on. A thread ends by calling no operation any more. *)
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
