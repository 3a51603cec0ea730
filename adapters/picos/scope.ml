open Picos

exception Stopped

let () =
  Printexc.register_printer (function
    | Stopped -> Some "Concord_picos: the scope of the fiber was cancelled"
    | _ -> None)

(* [live], an Atomic, counts the fibers of the scope that have not ended, and its body as one. It
   becomes 0 only once. The fiber that makes it 0 signals [ended]. *)
type scope = {
  computation : unit Computation.t;
      (** The computation of all fibers of the scope. *)
  live : int Atomic.t;
  ended : Trigger.t;
  outer : scope list;  (** The scopes around this one. *)
}

(* The scopes that a fiber is in. *)
let key : scope list Fiber.FLS.t = Fiber.FLS.create ()
let scopes_of fiber = Fiber.FLS.get fiber key ~default:[]
let leave t = if Atomic.fetch_and_add t.live (-1) = 1 then Wait.signal t.ended
let is_in t fiber = List.memq t (scopes_of fiber)

let fork t f =
  let caller =
    match Fiber.current () with
    | fiber when is_in t fiber -> fiber
    | _ | (exception Effect.Unhandled Fiber.Current) ->
        invalid_arg "Scope.fork: the caller is not a task of the scope"
  in
  Fiber.check caller;
  let fiber = Fiber.create ~forbid:false t.computation in
  Fiber.FLS.set fiber key (t :: t.outer);
  let begun = Trigger.create () in
  let main _ =
    Wait.signal begun;
    Fun.protect f ~finally:(fun () -> leave t)
  in
  ignore (Atomic.fetch_and_add t.live 1 : int);
  match Fiber.spawn fiber main with
  | () ->
      (* Tasks have to begin in the order in which they were forked, so [fork] waits until this
         one has begun. *)
      Wait.await_forbidding caller begun
  | exception e ->
      (* [main] will not be called, so it can't leave the scope. *)
      let backtrace = Printexc.get_raw_backtrace () in
      leave t;
      Printexc.raise_with_backtrace e backtrace

let cancel t () =
  Computation.cancel t.computation Stopped (Printexc.get_callstack 0)

(* The body runs with the computation of the scope. A cancellation of the fiber is passed on to
   that computation, unless the fiber forbids it. The scope itself can cancel the body in any
   case. *)
let run_scope t fiber body =
  let outer = Fiber.get_computation fiber in
  let forbid = Fiber.exchange fiber ~forbid:false in
  Fiber.set_computation fiber (Packed t.computation);
  Fiber.FLS.set fiber key (t :: t.outer);
  let finally () =
    Fiber.set_computation fiber outer;
    Fiber.FLS.set fiber key t.outer;
    leave t;
    Wait.await_forbidding fiber t.ended;
    Fiber.set fiber ~forbid
  in
  Fun.protect ~finally (fun () ->
      body Concord.Tools.Suspend.{ fork = fork t; cancel = cancel t })

let open_ fiber body =
  let t =
    {
      computation = Computation.create ~mode:`LIFO ();
      live = Atomic.make 1;
      ended = Trigger.create ();
      outer = scopes_of fiber;
    }
  in
  Fiber.check fiber;
  if Fiber.has_forbidden fiber then run_scope t fiber body
  else begin
    let (Packed from) = Fiber.get_computation fiber in
    let canceler = Computation.canceler ~from ~into:t.computation in
    (* If the computation has returned, [try_attach] fails, but the fiber isn't cancelled. *)
    let attached = Computation.try_attach from canceler in
    if not attached then Fiber.check fiber;
    let finally () = if attached then Computation.detach from canceler in
    let v = Fun.protect ~finally (fun () -> run_scope t fiber body) in
    Fiber.check fiber;
    v
  end
