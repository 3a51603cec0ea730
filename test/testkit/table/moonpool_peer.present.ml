open Concord_testkit.Host
open Concord_test_moonpool.Moonpool_hosts

let fifo_pool = Some (module Fifo_pool : HOST)
let ws_pool = Some (module Ws_pool : HOST)
