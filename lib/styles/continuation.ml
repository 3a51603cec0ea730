include Boxes

let style = Group.style ~name:"Continuation" ignore

module Wait = Indirect.Make (struct
  type data = unit

  let style = style
end)

(* --- The monad -------------------------------------------------------------- *)

type 'a t = ('a -> unit) -> unit

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
  Group.stop style;
  halt ()

let rec run group = if Group.turn group then run group
let start () = Wait.start run

(* --- Waiting ---------------------------------------------------------------- *)

let put_mvar = Wait.put_mvar
let take_mvar = Wait.take_mvar
let take_fifo = Wait.take_fifo
let sync = Wait.sync
let direct = Wait.direct
