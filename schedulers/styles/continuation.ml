(* Trampolined style with types: ['a t] is an operation that still lacks the rest of the
   thread, and [>>=] makes that rest of what follows. So functions need not hand [k] on to
   one another, and all that a thread does can be composed before it is done. When it is
   done, it is as in [Trampoline]: the scheduler and the operations are the same. *)

include Boxes

let style = Group.style ~name:"Continuation" ignore

module Wait = Indirect.Make (struct
  type data = unit

  let style = style
end)

(* --- The monad -------------------------------------------------------------- *)

type 'a t = ('a -> unit) -> unit

(* [t >>= f] lacks a [k]. When it gets one, [t] runs, and is told to call [f] with its
   value, and to run what that gives, which is told to call [k]. *)
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
