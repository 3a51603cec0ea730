open Moonpool
open Concord_test_picos

let signals = ("signals", "a resumer takes the lock of its queue")

module Fifo_pool = Picos_hosts.Make (struct
  let name = "Moonpool, Fifo_pool"

  let run f =
    Fifo_pool.with_ ~num_threads:2 () (fun pool -> run_wait_block pool f)

  let not_offered = [ signals ]
end)

module Ws_pool = Picos_hosts.Make (struct
  let name = "Moonpool, Ws_pool"

  let run f =
    Ws_pool.with_ ~num_threads:2 () (fun pool -> run_wait_block pool f)

  (* The threads serve their own queues first. *)
  let not_offered =
    [
      signals;
      ("fair", "tasks that yield go before those that are resumed elsewhere");
    ]
end)
