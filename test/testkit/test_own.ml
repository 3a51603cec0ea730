open Concord_test_own
open Concord_testkit.Host

let within (module Outer : HOST) (module Inner : HOST) : (module HOST) =
  (module Own.Within (Outer) (Inner))

let in_domain (module H : HOST) : (module HOST) = (module Own.In_domain (H))

let () =
  let open Own in
  test
    ~in_table:
      ([ fifo; lazy_fifo; threads; domains; workers ] @ styles @ policies)
    [ in_domain fifo; within fifo fifo; main_thread; within workers fifo ]
