open Concord_test_support
open Concord_test_hosts

let () =
  Check.run "Elements that begin"
    (List.map Tasks_begun.everywhere Tasks_cases.places
    @ [
        Tasks_begun.cancelled "Fifo" (Cancelling.fifo `Eager);
        Tasks_begun.cancelled "Fifo, lazy" (Cancelling.fifo `Lazy);
        Tasks_begun.cancelled "Eio" (Cancelling.eio ~protects:true);
        Tasks_begun.plain;
      ])
