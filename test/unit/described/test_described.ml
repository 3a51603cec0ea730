(* Compares the structures with their descriptions (doc/described). The same CONCORD_SEED draws
   the same programs. *)

open Concord_test_support
open Concord_testkit.Structure

let structures : (module STRUCTURE) list =
  [
    (module Semaphores.Of_none);
    (module Semaphores.Of_three);
    (module Semaphores.Binary);
    (module Exclusion.Of_mutex);
    (module Exclusion.Fair);
    (module Exclusion.Writers_first);
    (module Boxes.Of_mvar);
    (module Values.Of_promise);
    (module Values.Of_watch);
    (module Channels.Of_channel);
    (module Streams.Of_one);
    (module Streams.Of_three);
    (module Streams.Of_work_queue);
    (module Streams.Of_mailbox);
    (module Groups.Of_latch);
    (module Groups.Pairs);
    (module Groups.Threes);
    (module Groups.Of_bvar);
    (module Groups.Of_condition);
  ]

let () =
  Printf.printf "CONCORD_SEED=%d\n%!" Race.seed;
  let test f i ((module S : STRUCTURE) as structure) =
    Check.test S.name (fun () -> f (Race.random i) structure)
  in
  Check.run "described"
    [
      ( "programs",
        List.mapi
          (test (fun random s -> programs random s (Race.often 300)))
          structures );
      ( "races",
        List.mapi
          (test (fun random s -> races random s (Race.often 30)))
          (Race.drawn structures) );
    ]
