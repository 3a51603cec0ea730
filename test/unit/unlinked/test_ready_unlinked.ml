(* Operations that need not wait, in Eio without its adapter. *)

open Concord_test_support
open Concord_test_hosts

let () =
  let eio = Eio_hosts.fibers in
  Check.run "Operations that need not wait, without concord-eio"
    [
      Ready_cases.(on ~but:(yield :: of_scopes) eio);
      Ready_cases.on (Test_host.within ~outer:eio Basic_hosts.fifo);
    ]
