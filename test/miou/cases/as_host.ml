(* The suite for hosts, on tasks of Miou. *)

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

let hosts : (module HOST) list = [ (module Here); (module There) ]
let run () = Own.test hosts
