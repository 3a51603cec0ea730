(* When a program collects to find lost tasks. The times here are made up. *)

open Concord_test_support
open Check
module Search = Concord__diagnosis.Leak_search

type program = { load : float; took : float; cycles_each : int }

(* Runs the steps of [seconds] of a program that takes [load] of a processor, whose collections
   take [took], and which itself completes [cycles_each] cycles between two steps. [fresh] of a
   step's number are the new waits. It isn't run while [is_starved] at a time. Returns the times at
   which it collected. *)
let collections ?(fresh = fun _ -> 0) ?(is_starved = fun _ -> false) ~seconds
    { load; took; cycles_each } =
  let rec from i ({ Search.at; used; cycles } : Search.seen) state found =
    if at > seconds then List.rev found
    else
      let paused = Search.pause state in
      let load = if is_starved at then 0. else load in
      let seen =
        {
          Search.at = at +. paused;
          used = used +. (load *. paused);
          cycles = cycles + cycles_each;
        }
      in
      match Search.step ~fresh:(fresh i) seen state with
      | `Wait, state -> from (i + 1) seen state found
      | `Collect, state ->
          let ended = { seen with at = seen.at +. took } in
          from (i + 1) ended (Search.collected ended state) (seen.at :: found)
  in
  let first = { Search.at = 0.; used = 0.; cycles = 0 } in
  from 0 first (Search.begin_at first) []

let quiet = { load = 0.; took = 0.01; cycles_each = 0 }

let once () =
  match collections ~seconds:60. quiet with
  | [ at ] -> yes "soon" (at < 0.2)
  | found -> Alcotest.failf "%d collections" (List.length found)

let after_a_wait () =
  let fresh i = if i = 100 then 1 else 0 in
  int "collections" 2 (List.length (collections ~fresh ~seconds:60. quiet))

(* A task may have dropped a promise, and waits for nothing. *)
let after_work () =
  let found = collections ~seconds:60. { quiet with load = 0.001 } in
  yes "again and again" (List.length found > 10)

(* The search begins with a tenth of a second, and the last collection may take longer than what
   is left. *)
let at_most_2_percent () =
  let fresh _ = 1 and seconds = 100. in
  List.iter
    (fun took ->
      let program = { quiet with load = 0.1; took } in
      let n = List.length (collections ~fresh ~seconds program) in
      let all = float n *. took in
      yes (Printf.sprintf "%f s in all" all) (all < 2. +. 0.1 +. took);
      yes "and not much less" (all > 0.8))
    [ 0.001; 0.01; 0.1; 0.5 ]

let not_while_busy () =
  let found = collections ~seconds:60. { quiet with load = 1.9 } in
  yes "rarely" (List.length found <= 6);
  yes "but it does" (List.length found >= 5)

let collects_itself () =
  int "collections" 0
    (List.length
       (collections ~seconds:60. { quiet with load = 1.; cycles_each = 1 }))

(* Other programs have the cores for 0.08 s of each 0.2 s. *)
let starved () =
  let is_starved at = Float.rem at 0.2 < 0.08 in
  int "collections" 0
    (List.length
       (collections ~is_starved ~seconds:60.
          { quiet with load = 1.; cycles_each = 1 }))

let () =
  run "CONCORD_DEBUG=leaks, when it collects"
    [
      ( "collects",
        [
          test "once in a quiet program" once;
          test "after a wait has begun" after_a_wait;
          test "after the program has worked" after_work;
          test "for 2 % of the time" at_most_2_percent;
          test "rarely while the program is busy" not_while_busy;
          test "never if a busy program collects itself" collects_itself;
          test "nor if it is starved for a moment" starved;
        ] );
    ]
