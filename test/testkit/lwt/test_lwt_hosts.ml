open Concord_test_own
open Own
open Concord_test_lwt.Lwt_hosts
module Fifo = (val fifo)

let () =
  test
    ~in_table:[ (module Lwt_direct); (module Promises) ]
    [ (module Within (Promises) (Fifo)); (module Within (Fifo) (Lwt_direct)) ]
