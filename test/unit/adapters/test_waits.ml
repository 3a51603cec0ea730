(* Each operation that may wait, on each host that needs no other library of promises. *)

open Concord_test_hosts

let hosts =
  let open Basic_hosts in
  [
    fifo;
    lazy_fifo;
    threads;
    workers;
    one_worker;
    Eio_hosts.fibers;
    Job_hosts.tasks;
    Test_host.within ~outer:Eio_hosts.fibers fifo;
    Test_host.within ~outer:fifo Eio_hosts.fibers;
  ]

let wakers = [ ("Domainslib", Waking.by Domainslib_hosts.pool) ]

let () =
  Concord_test_support.Check.run "Each operation, on each host"
    (List.map (Wait_cases.on ~wakers) hosts)
