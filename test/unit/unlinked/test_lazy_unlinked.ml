open Concord_test_hosts
open Lazy_undefined

let () =
  Concord_test_support.Check.run "Lazy, without concord-eio"
    [
      Lazy_policies.suite "cancellation" (Cancelling.eio ~protects:false);
      ("in a fiber", within eio);
      ("in Fifo in a fiber", within (fun f -> eio (fun () -> fifo f)));
      ("in a fiber in Fifo", within (fun f -> fifo (fun () -> eio f)));
      ("among fibers", among fibers);
      ("among tasks in a fiber", among (fun fs -> eio (fun () -> tasks fs)));
      ("among fibers in Fifo", among (fun fs -> fifo (fun () -> fibers fs)));
      ( "a scheduler within a computation",
        let open Concord_test_support.Check in
        [
          test "Eio in a fiber's thread" (scheduler_within fibers in_thread);
          test "Fifo in a fiber" (scheduler_within tasks eio);
          test "Eio in Fifo" (scheduler_within fibers fifo);
        ] );
      ("Suspend", Reach_cases.fiber ~protects:false);
    ]
