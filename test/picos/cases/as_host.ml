(* The suite for hosts, on fibers of Picos. *)

open Concord_testkit.Host
open Concord_test_own
open Concord_test_picos.Picos_hosts

module Plain = Make (struct
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
    (module Plain);
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
