(* Each operation that may wait, on each host that needs no other library of promises. *)

open Concord_test_hosts

let in_turn =
  let open Basic_hosts in
  [
    fifo;
    lazy_fifo;
    one_worker;
    Eio_hosts.fibers;
    Test_host.within ~outer:Eio_hosts.fibers fifo;
    Test_host.within ~outer:fifo Eio_hosts.fibers;
  ]

let on_several_threads = Basic_hosts.[ threads; workers ] @ [ Job_hosts.tasks ]
let wakers = [ ("Domainslib", Waking.by Domainslib_hosts.pool) ]

(* A thread of a pool's only domain gets a turn each 50 ms, so the wakes by a thread would take 10 s.
   The suite for hosts has them (H2, H4). *)
let in_a_pool =
  Wait_cases.on ~starts:Waking.on_another_domain Job_hosts.only_domain

let () =
  Concord_test_support.Check.run "Each operation, on each host"
    ((in_a_pool :: List.map (Wait_cases.on ~wakers) in_turn)
    @ List.map (Wait_cases.on ~wakers ~in_turn:false) on_several_threads)
