(* The requirements for every host, in fibers of Picos. *)

open Concord_test_support.Check
open Concord_test_hosts
open Schedulers

let lazies (s : Schedulers.t) =
  [
    (s.name ^ ", lazy, undefined", Lazy_undefined.within s.run);
    ( s.name ^ ", lazy, among fibers",
      Lazy_undefined.among (fun fs -> s.run (fun () -> all_of fs)) );
  ]

let anywhere (s : Schedulers.t) =
  (s.name ^ ", reached", Reach_cases.place s.name Reach_cases.suspends s.run)
  :: lazies s

(* These cases count in plain references, and check the order in which tasks continue. *)
let one_by_one (s : Schedulers.t) =
  [
    Tasks_cases.everywhere (s.name ^ ", tasks", s.run);
    Tasks_first.everywhere (s.name ^ ", first, timeouts, lists", s.run);
    Tasks_begun.everywhere (s.name ^ ", begun", s.run);
    ( s.name ^ ", cancelled",
      [ test "is_cancelled" (Reach_cases.cancelled (cancelling s)) ] );
    Ready_cases.(on ~but:of_scopes (of_cancelling s.name (cancelling s)));
    Tasks_cancelled.from_outside s.name (cancelling s);
    Tasks_first.from_outside (s.name ^ ", first") (cancelling s);
    Lazy_policies.suite (s.name ^ ", lazy, cancelled") (cancelling s);
  ]

let waits ?in_turn ?fork ?pause (s : Schedulers.t) =
  Wait_cases.on ?in_turn
    (Ready_cases.of_cancelling s.name (cancelling ?fork ?pause s))

let in_eio =
  {
    name = "as_fiber in Eio";
    run = (fun f -> Eio_main.run (fun _ -> Concord_picos.as_fiber f));
  }

let suites =
  List.concat_map anywhere (all @ [ registered fifo; registered multififo ])
  @ List.concat_map one_by_one [ fifo; registered fifo ]
  @ List.map (waits ~in_turn:true) [ fifo; registered fifo ]
  @ List.map (waits ~in_turn:false) [ random; randoms; multififo; thread ]
  (* A fiber of [as_fiber] waits by its host, and not by an effect of Picos. *)
  @ [ waits ~fork:spawn in_eio ]
