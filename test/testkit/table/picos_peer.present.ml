open Concord_testkit.Host
open Concord_test_picos.Picos_hosts

let fifo = Some (module Fifo : HOST)
let multififo = Some (module Multififo : HOST)
