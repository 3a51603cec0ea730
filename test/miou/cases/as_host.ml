(* Runs the suite for hosts on tasks of Miou, and on other hosts inside Miou and beside it. *)

open Concord_testkit.Host
open Concord_test_own
open Concord_test_miou.Miou_host

module Here = Make (struct
  let name = "Miou"
  let run f = In_miou.run f
end)

module There = Make (struct
  let name = "Miou, another domain"
  let run f = In_miou.call f
end)

module Eio_host = Concord_test_eio.Eio_host.Make (struct
  let linked = true
end)

module Fifo = (val Own.fifo)

let hosts : (module HOST) list =
  [
    (module Here);
    (module There);
    (module Own.Within (Here) (Fifo));
    (module Own.Within (There) (Fifo));
    (module Own.Within (Here) (Eio_host));
    (module Fifo);
    (module Eio_host);
    Own.threads;
  ]

let run () = Own.test hosts
