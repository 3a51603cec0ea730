(* Operations that need not wait, on Eio with its adapter and in pools of Domainslib. *)

open Concord_test_support
open Concord_test_hosts
open Ready_cases

let of_pools =
  [
    case "Concord_domainslib.drain" (fun () ->
        let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
        Concord_domainslib.attach pool;
        fun () ->
          Concord_domainslib.drain pool;
          Domainslib.Task.teardown_pool pool);
  ]

let of_eio =
  [
    now "Concord_eio.to_eio" (fun () ->
        let promise = Concord_eio.to_eio (Concord.Promise.of_value five) in
        Check.yes "resolved" (Eio.Promise.peek promise = Some (Ok five)));
  ]

let () =
  let eio = Eio_hosts.fibers in
  Check.run "Operations that need not wait, with adapters"
    [
      on ~more:(of_eio @ of_pools) eio;
      on ~more:of_pools (Test_host.within ~outer:eio Basic_hosts.fifo);
      on Domainslib_hosts.pool;
      on ~cooperative:false Job_hosts.jobs;
      on ~cooperative:false Job_hosts.tasks;
    ]
