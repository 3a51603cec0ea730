(* Runs the suite for hosts on tasks of Moonpool, and on other hosts if Moonpool is linked. *)

open Concord_test_own
open Concord_test_moonpool.Moonpool_hosts

module Pool = Concord_test_domainslib.Pool_host.Make (struct
  let num_domains = 1
end)

module Main = Concord_test_picos.Picos_hosts.Make (struct
  let name = "Moonpool.Main"
  let run f = Moonpool.Main.main (fun _ -> f ())
  let domains = false
end)

(* The threads of a [Ws_pool] serve their own queues first. As long as their tasks yield, they
   don't see tasks that others resume. *)
let all_but_fair =
  [ "H1"; "H2"; "H3"; "H4"; "S1"; "S2"; "S3"; "S4"; "S5"; "backtraces" ]
  @ [ "inside"; "around"; "foreign"; "domains"; "protect"; "failures"; "end" ]

let run () =
  Own.test
    ~only:(all_but_fair, [ (module Ws_pool) ])
    [ (module Fifo_pool); (module Main); (module Pool) ]
