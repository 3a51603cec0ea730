let int_of_fd : Unix.file_descr -> int = Iomux.Util.fd_of_unix

module By_fd = Map.Make (struct
  type t = Unix.file_descr

  let compare a b = Int.compare (int_of_fd a) (int_of_fd b)
end)

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

type t = {
  set : Unix.file_descr -> read:bool -> write:bool -> unit;
  wait : block:bool -> (Unix.file_descr * ready) list;
  is_settled : unit -> bool;
  settle : unit -> unit;
}
