(* Picos must be configured by the main thread. *)
let run () =
  Schedulers.fifo.run ignore;
  Concord_test_support.Check.run "concord-picos"
    (Hosted.suites @ Waiting.suites @ Spins.suites @ Afterwards.suites
   @ Guests.suites @ Guest_hosts.suites @ Nested.suites @ Storage.suites)
