open Eio.Private
module Host = Concord.Suspend.Host

let name = "eio"

(* The private effect of Eio's fibers, performed as Eio does.

   [decided] is the one decision of H3. A resumer takes it on any domain, and
   cancelling on the fiber's own; whoever does, enqueues the fiber once. *)
let suspend (type a) (block : a Concord.Suspend.resumer -> a option) : a =
  let entered = ref false in
  let enter fiber (enqueue : a Effects.enqueue) =
    entered := true;
    match Fiber_context.get_error fiber with
    | Some e -> enqueue (Error e)
    | None -> (
        let decided = Atomic.make false in
        let decide outcome =
          Atomic.compare_and_set decided false true
          && begin
            enqueue outcome;
            true
          end
        in
        (* Eio forgets this function before the fiber goes on. *)
        Fiber_context.set_cancel_fn fiber (fun e ->
            ignore (decide (Error e) : bool));
        match block decide with
        | None -> ()
        | Some v -> ignore (decide (Ok v) : bool)
        | exception e -> ignore (decide (Error e) : bool))
  in
  match Effect.perform (Effects.Suspend enter) with
  | v -> v
  | exception Effect.Unhandled (Effects.Suspend _) when not !entered ->
      raise_notrace Host.Elsewhere

let protect f =
  match Effect.perform Effects.Get_context with
  | (_ : Fiber_context.t) -> Eio.Cancel.protect f
  | exception Effect.Unhandled Effects.Get_context ->
      raise_notrace Host.Elsewhere

exception Stopped

(* [Switch.run] raises [Stopped] only after [cancel]. *)
let scope body =
  Eio.Switch.run (fun sw ->
      let fork f = Eio.Fiber.fork ~sw f
      and cancel () = Eio.Switch.fail sw Stopped in
      body Host.{ fork; cancel })

let () =
  Host.plug_in
    {
      name;
      sample = Some (Eio_utils.Dla.prepare_for_await ());
      takes_every_effect = false;
      suspend;
      protect;
      scopes = Some { scope };
    }
