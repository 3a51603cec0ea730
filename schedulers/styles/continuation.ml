(* Trampolined style with types. An ['a t] is an operation that still lacks the rest of the
   thread, and [>>=] makes this rest from the code that follows. So functions need not pass [k]
   to one another, and a thread can be composed before it runs. At run time it works like
   [Trampoline], with the same scheduler and the same operations. *)

include Boxes

let style = Group.style ~name:"Continuation" ignore

module Wait = Indirect.Make (struct
  type data = unit

  let style = style
end)

(* --- The monad -------------------------------------------------------------- *)

type 'a t = ('a -> unit) -> unit

(* [t >>= f] lacks a [k]. When it gets one, it runs [t]. With the value of [t] it calls [f],
   and runs the result with [k]. *)
let return v k = k v
let ( >>= ) t f k = t (fun v -> f v k)
let ( let* ) = ( >>= )
let ( let+ ) t f k = t (fun v -> k (f v))

(* --- Threads ---------------------------------------------------------------- *)

let spawn f = Group.spawn style (fun () -> f () ignore)
let yield () k = Group.enqueue (Group.running style) k
let skip k = k ()
let halt () _ = ()

let stop () =
  Loop.stop style;
  halt ()

let rec run group = if Group.turn group then run group
let start () = Wait.start run

(* --- Waiting ---------------------------------------------------------------- *)

let put_mvar = Wait.put_mvar
let take_mvar = Wait.take_mvar
let take_fifo = Wait.take_fifo
let sync = Wait.sync
let direct = Wait.direct
