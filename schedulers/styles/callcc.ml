(* A thread that must wait takes its continuation and passes it to the structure. Then it
   throws to the continuation of the next thread, so it does the work of a scheduler. In
   [Delimited], a thread takes only the stack down to a mark, and returns to the scheduler
   below the mark. Here it takes everything that remains to be done, so there is nothing below.
   *)

include Boxes

(* The continuation of [start], which continues when no thread is ready. *)
type exit = { mutable exit : unit Cont.t option }

let style = Group.style ~name:"Callcc" (fun () -> { exit = None })

let dequeue group =
  if not (Group.turn group) then
    match (Group.data group).exit with
    | Some exit -> Cont.throw exit ()
    | None -> assert false (* because [start] sets it before any thread runs *)

(* --- Threads ---------------------------------------------------------------- *)

(* A thread that waits in a structure performs an effect, which works like [callcc]. *)
let meaning group =
  let { Prompt.meaning } = Direct.in_group style group in
  let meaning e =
    match meaning e with
    | None -> None
    | Some body ->
        Some
          (fun k ->
            body k;
            dequeue group)
  in
  { Prompt.meaning }

let spawn f =
  Group.spawn style (fun () ->
      let group = Group.running style in
      let run () =
        Direct.body f ();
        dequeue group
      in
      Cont.throw (Cont.fresh ~meaning:(meaning group) run) ())

let yield () =
  let group = Group.running style in
  Cont.leave (fun k ->
      Group.enqueue_stack group (fun () -> Cont.throw k ());
      dequeue group);
  Group.raise_if_stopped group

let skip = ()
let halt = Direct.halt
let stop () = Loop.stop style

let start () =
  Loop.start style (fun group ->
      Cont.run (fun () ->
          Cont.leave (fun exit ->
              (Group.data group).exit <- Some exit;
              dequeue group)))

(* --- Waiting ---------------------------------------------------------------- *)

let put_mvar = Concord.Mvar.put
let take_mvar = Concord.Mvar.take
let take_fifo = Concord.Mailbox.take
let sync = Concord.Event.sync
