(** What became of a descriptor that is waited for. *)

type t = {
  read : bool;  (** There is something to read, or the end, or an error. *)
  write : bool;
  closed : bool;  (** It is no open descriptor. *)
}

let over = { read = true; write = true; closed = false }
let closed = { over with closed = true }

(* Those of [poll(2)], which [io_uring] has as well. *)
let of_bits bits =
  let has bit = bits land bit <> 0 in
  let pollin = 0x1
  and pollout = 0x4
  and pollerr = 0x8
  and pollhup = 0x10
  and pollnval = 0x20 in
  if has pollnval then closed
  else if has (pollerr lor pollhup) then over
  else { read = has pollin; write = has pollout; closed = false }
