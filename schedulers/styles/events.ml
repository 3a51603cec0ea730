(* The next step of a thread is a handler in an event system. An operation that must wait makes
   an event of its own, and adds the rest of the thread as its handler. The structure announces
   the event. This is trampolined style with an event queue between the structure and the
   thread. Other handlers of the program may share the queue. *)

include Boxes

(* Each group of threads has an event system of its own. When all events were handled, a turn
   makes new ones. *)
let style =
  Group.style ~name:"Events" ~clear:Equeue.clear (fun () -> Equeue.create ())

module Wait = Indirect.Make (struct
  type data = Equeue.t

  let style = style
end)

let ( >>= ) operation k = operation k

(* [k] becomes the handler of an event that happens once, when the operation calls its
   function. *)
let await operation k =
  let performed = Equeue.event (Group.data (Group.running style)) in
  Equeue.once performed k;
  operation (Equeue.add performed)

(* --- Threads ---------------------------------------------------------------- *)

let spawn f = Group.spawn style f
let close operation () = operation ignore
let yield k = await (Group.enqueue (Group.running style)) k
let skip k = k ()
let halt () = ()
let stop () = Loop.stop style

let rec run group =
  if Group.turn group then begin
    Equeue.run (Group.data group);
    run group
  end

let start () = Wait.start run

(* --- Waiting ---------------------------------------------------------------- *)

let put_mvar m v k =
  if Concord.Mvar.try_put m v then k () else await (Wait.put_mvar m v) k

let take_mvar m k =
  match Concord.Mvar.try_take m with
  | Some v -> k v
  | None -> await (Wait.take_mvar m) k

let take_fifo q k =
  match Concord.Mailbox.try_take q with
  | Some v -> k v
  | None -> await (Wait.take_fifo q) k

let sync event k = await (Wait.sync event) k
let direct f k = await (Wait.direct f) k
