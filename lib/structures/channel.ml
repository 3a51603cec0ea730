exception Closed = Errors.Closed

(* Values that pass directly from a sender to a receiver. The states and steps are in
   {!Rendezvous}, below this folder, because [Event] needs them for choices between
   channels. *)
type 'a t = 'a Event.channel

let create = Rendezvous.create
let send = Rendezvous.send
let receive = Rendezvous.receive
let try_send = Rendezvous.try_send
let try_receive = Rendezvous.try_receive
let send_evt = Event.send
let receive_evt = Event.receive
let close = Rendezvous.close
let is_closed = Rendezvous.is_closed
let waiters = Rendezvous.waiters

include Reader.Make (struct
  type nonrec 'a t = 'a t

  let take = receive
  let take_evt = receive_evt
end)

let drain = Rendezvous.drain
let send_seq t seq = Seq.iter (send t) seq
