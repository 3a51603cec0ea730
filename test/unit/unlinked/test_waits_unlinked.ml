(* Each operation that may wait, in Eio without its adapter. *)

open Concord_test_hosts

let () =
  let eio = Eio_hosts.fibers in
  Concord_test_support.Check.run "Each operation, without concord-eio"
    [
      Wait_cases.on eio;
      Wait_cases.on (Test_host.within ~outer:eio Basic_hosts.fifo);
    ]
