(* Runs the suite for hosts on tasks of Moonpool, and on other hosts if Moonpool is linked. *)

open Concord_test_own
open Concord_test_moonpool.Moonpool_hosts

module Pool = Concord_test_domainslib.Pool_host.Make (struct
  let num_domains = 1
end)

module Main = Concord_test_picos.Picos_hosts.Make (struct
  let name = "Moonpool.Main"
  let run f = Moonpool.Main.main (fun _ -> f ())

  let not_offered =
    [
      signals;
      ("nested", "its tasks are not fibers after an inner loop has ended");
      ("domains", "it runs on the main thread");
    ]
end)

let run () =
  Own.test
    [ (module Fifo_pool); (module Ws_pool); (module Main); (module Pool) ]
