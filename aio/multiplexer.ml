type ready = { read : bool; write : bool; closed : bool }

let over = { read = true; write = true; closed = false }
let closed = { over with closed = true }

let ready_of_bits bits =
  let has bit = bits land bit <> 0 in
  let pollin = 0x1
  and pollout = 0x4
  and pollerr = 0x8
  and pollhup = 0x10
  and pollnval = 0x20 in
  if has pollnval then closed
  else if has (pollerr lor pollhup) then over
  else { read = has pollin; write = has pollout; closed = false }

type watch = { set : read:bool -> write:bool -> unit }

type 'a t = {
  watch : Unix.file_descr -> 'a -> watch;
  wait : block:bool -> ('a * ready) list;
  is_settled : unit -> bool;
  settle : unit -> unit;
  close : unit -> unit;
}
