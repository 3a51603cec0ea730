exception Closed = Errors.Closed

(* A mailbox is a stream that is never full, so no task waits to add. *)
type 'a t = 'a Stream.t

let create = Stream.create_mailbox

let add t v =
  if not (Stream.try_add t v) then assert false (* a mailbox is never full *)

let take = Stream.take
let try_take = Stream.try_take
let drain = Stream.drain
let take_evt = Stream.take_evt
let length = Stream.length
let is_empty = Stream.is_empty
let close = Stream.close
let is_closed = Stream.is_closed
let waiters = Stream.waiters

include Reader.Make (Stream)

let add_seq t seq = Seq.iter (add t) seq
