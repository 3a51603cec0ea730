(* The suite for hosts, on fibers of Picos. *)

open Picos
open Concord_testkit.Host
open Concord_test_own

exception Ended

(* What a fiber raises ends its scheduler's loop, or nobody hears of it: so [run] does. *)
module Make (Place : sig
  val name : string
  val run : (unit -> 'a) -> 'a
  val domains : bool
end) =
struct
  let name = Place.name

  type t = exn Atomic.t
  type task = unit Computation.t

  let run f =
    let failure = Atomic.make Ended in
    let v = Place.run (fun () -> f failure) in
    match Atomic.get failure with Ended -> v | e -> raise e

  let spawn failure f =
    let computation = Computation.create () in
    let main _ =
      try f () with
      | Ended -> ()
      | e -> ignore (Atomic.compare_and_set failure Ended e : bool)
    in
    Fiber.spawn (Fiber.create ~forbid:false computation) main;
    computation

  let yield = Fiber.yield

  let cancel =
    Some
      (fun _ task -> Computation.cancel task Ended (Printexc.get_callstack 0))

  let is_cancellation e = e = Ended
  let protects = true
  let domains = Place.domains
end

module Fifo = Make (struct
  let name = "Picos, fifo"
  let run f = Schedulers.fifo.run f
  let domains = true
end)

module Random = Make (struct
  let name = "Picos, random"
  let run f = Schedulers.random.run f
  let domains = true
end)

module Multififo = Make (struct
  let name = "Picos, multififo"
  let run f = Schedulers.multififo.run f
  let domains = false
end)

module Registered = Make (struct
  let name = "Picos, fifo, registered"
  let run f = (Schedulers.registered Schedulers.fifo).run f
  let domains = true
end)

module As_fiber = Make (struct
  let name = "as_fiber in Fifo"
  let run f = Concord_fifo.run (fun () -> Concord_picos.as_fiber f)
  let domains = true
end)

module As_fiber_in_eio = Make (struct
  let name = "as_fiber in Eio"
  let run f = Eio_main.run (fun _ -> Concord_picos.as_fiber f)
  let domains = true
end)

let hosts : (module HOST) list =
  [
    (module Fifo);
    (module Random);
    (module Multififo);
    (module Registered);
    (module As_fiber);
    (module As_fiber_in_eio);
  ]

(* Picos is to be configured by the main thread. *)
let run () =
  Schedulers.fifo.run ignore;
  Own.test hosts
