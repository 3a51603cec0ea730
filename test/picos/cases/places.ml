(* The places in which a task can be a fiber of Picos. *)

open Concord_test_support.Check

type place = { name : string; run : (unit -> unit) -> unit }

let eio f = Eio_main.run (fun _ -> f ())

let pool f =
  Attached_pools.with_pool (fun pool ->
      Concord_domainslib.run pool
        (Concord_test_hosts.Tasks_cases.with_backtraces f))

let registered f = (Schedulers.registered Schedulers.fifo).run f
let in_fifo = { name = "Fifo"; run = (fun f -> Concord_fifo.run f) }
let in_eio = { name = "Eio"; run = eio }
let in_pool = { name = "Domainslib"; run = pool }
let in_picos = { name = "Picos"; run = (fun f -> Schedulers.fifo.run f) }

let all =
  [
    in_fifo;
    {
      name = "Fifo, lazy";
      run = (fun f -> Concord_fifo.run ~cancellation:`Lazy f);
    };
    in_eio;
    in_pool;
    {
      name = "Lwt, direct";
      run = (fun f -> Concord_lwt.run (fun () -> Concord_lwt.direct f));
    };
    {
      name = "Lwt_direct";
      run = (fun f -> Concord_lwt.run (fun () -> Lwt_direct.spawn f));
    };
    { name = "a thread"; run = in_thread };
    { name = "a domain"; run = in_domain };
    in_picos;
    { name = "Picos in Eio"; run = (fun f -> eio (fun () -> registered f)) };
  ]
