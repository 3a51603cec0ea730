(* Compares the structures with their descriptions (doc/described). The same CONCORD_SEED draws
   the same programs. *)

open Concord_test_support
open Concord_testkit.Structure

(* These have operations of several steps, between which another domain may come. With a limit,
   a value is passed on. Readers are let in one after the other, so a writer may come first. *)
let on_one_domain : (module STRUCTURE) list =
  [
    (module Broadcasts.Dropping);
    (module Broadcasts.Waiting);
    (module Exclusion.Writers_first);
  ]

let on_two_domains : (module STRUCTURE) list =
  [
    (module Semaphores.Of_none);
    (module Semaphores.Of_three);
    (module Semaphores.Almost_full);
    (module Semaphores.Binary);
    (module Exclusion.Of_mutex);
    (module Exclusion.Fair);
    (module Boxes.Of_mvar);
    (module Values.Of_promise);
    (module Values.Of_watch);
    (module Channels.Of_channel);
    (module Streams.Of_one);
    (module Streams.Of_three);
    (module Streams.Filled);
    (module Work_queues.Of_two);
    (module Streams.Of_mailbox);
    (module Groups.Of_latch);
    (module Groups.Pairs);
    (module Groups.Threes);
    (module Groups.Of_bvar);
    (module Groups.Of_condition);
    (module Monitors);
    (module Lazies);
    (module Broadcasts.Unlimited);
    (module Pools.Of_one);
    (module Pools.Of_two);
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
          (on_two_domains @ on_one_domain) );
      ( "races",
        List.mapi
          (test (fun random s -> races random s (Race.often 60)))
          (Race.drawn on_two_domains) );
    ]
