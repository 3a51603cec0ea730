(* The hosts of this project, and those of its adapters that are always installed.
   test/support/hosts defines how they run. *)

let of_host ?no_siblings ?in_lwt (host : Test_host.t) : (module Host.S) =
  (module struct
    let name = host.name
    let no_siblings = no_siblings
    let main_domain_only = None
    let no_foreign = None
    let cancel = host.cancel
    let in_lwt = in_lwt
    let run = Test_host.run_all host
  end)

let fifo = of_host Basic_hosts.fifo
let eio = of_host Eio_hosts.fibers
let fifo_in outer = of_host (Test_host.within ~outer Basic_hosts.fifo)
let fifo_in_eio = fifo_in Eio_hosts.fibers
let with_eio = [ eio; fifo_in_eio ]

let all =
  [
    fifo;
    of_host Basic_hosts.lazy_fifo;
    eio;
    of_host Domainslib_hosts.pool;
    of_host Basic_hosts.threads;
    of_host Basic_hosts.domains ~no_siblings:"each domain has one task";
    of_host Basic_hosts.workers;
    fifo_in Basic_hosts.workers;
    fifo_in_eio;
    fifo_in Domainslib_hosts.pool;
    of_host (Lwt_hosts.promises Concord_lwt.run) ~in_lwt:Concord_lwt.direct;
    of_host (Lwt_hosts.lwt_direct Concord_lwt.run) ~in_lwt:Lwt_direct.spawn;
  ]

let styles = List.map of_host Style_hosts.all
