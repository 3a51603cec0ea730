open Picos
module Host_kit = Concord.Tools.Host_kit

let name = "picos"

let current () =
  match Fiber.current () with
  | fiber -> fiber
  | exception Effect.Unhandled Fiber.Current -> raise_notrace Host_kit.Elsewhere

let suspend block = Spinning.suspend (current ()) block
let protect f = Fiber.forbid (current ()) f
let scope body = Scope.open_ (current ()) body

(* --- The identity of fibers ------------------------------------------------- *)

let known : Host_kit.Who.t Fiber.FLS.t = Fiber.FLS.create ()
let next_number = Atomic.make 1

let who fiber =
  match Fiber.FLS.get_exn fiber known with
  | who -> Concord.Private.Who.here who
  | exception Fiber.FLS.Not_set ->
      let number = Atomic.fetch_and_add next_number 1 in
      let who =
        Host_kit.Who.make ~host:name
          ~name:(Printf.sprintf "fiber %d" number)
          fiber
      in
      Fiber.FLS.set fiber known who;
      who

(* --- The plug-in ------------------------------------------------------------- *)

let plugin =
  Host_kit.
    {
      name;
      sample = None;
      takes_every_effect = false;
      suspend;
      protect;
      scopes = Some { scope };
    }

let () =
  Host_kit.plug_in ~who:(fun () -> who (current ())) plugin;
  Concord.Tasks.cancels_by (function
    | Picos_std_structured.Control.Terminate -> true
    | _ -> false)

(* --- Values of a task -------------------------------------------------------- *)

module Locals = Concord.Private.Locals

let bindings : Locals.bindings option Fiber.FLS.t = Fiber.FLS.create ()
let read () = Fiber.FLS.get (current ()) bindings ~default:None

(* Only the fiber itself sets it. *)
let within values f =
  let fiber = current () and before = read () in
  Fiber.FLS.set fiber bindings (Some values);
  Fun.protect f ~finally:(fun () -> Fiber.FLS.set fiber bindings before)

let slot = Locals.{ read; within; kept = None }
let () = Locals.add ~plugin slot
