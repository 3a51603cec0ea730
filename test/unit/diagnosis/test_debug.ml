(* Reports as text for people. *)

open Concord.Tools
open Concord_test_support
open Check

(* --- As text, from reports that are built here ---------------------------------- *)

let no_frames = Printexc.get_callstack 0

let[@inline never] somewhere () =
  let here = Printexc.get_callstack 3 in
  ignore (Sys.opaque_identity () : unit);
  here

let[@inline never] elsewhere () =
  let here = Printexc.get_callstack 3 in
  ignore (Sys.opaque_identity () : unit);
  here

let task ?(host = "fifo") ?(id = 1_000) n : Debug.task =
  { id = id + n; host; name = Printf.sprintf "task %d" n }

let target ?structure ?(state = "") ?made_at ?(holders = []) operation :
    Debug.target =
  { operation; structure; state; made_at; holders }

let wait ?host ?id ?origin ?(domain = 0) ?(for_ = 0.5) ?(at = no_frames) number
    targets : Debug.wait =
  {
    number;
    task = task ?host ?id number;
    domain;
    origin;
    targets;
    waits_for = for_;
    waits_at = at;
  }

let report ?(cycles = []) ?(behind = []) ?(woken = []) ?(running = [])
    ?(queues = []) waits : Debug.report =
  { cycles; behind; waits; woken; running; queues }

(* Lines of this file change with each edit, so they are not compared. *)
let without_lines text =
  Str.global_replace (Str.regexp "[a-z_/]*test_debug.ml:[0-9]+") "FILE:N" text

let text name expected report () =
  Alcotest.(check string)
    name
    (String.concat "\n" (expected @ [ "" ]))
    (without_lines (Debug.to_string report))

let no_frames_line = "    (no frames: compile with -g)"

(* The frames are taken before the calls of [wait]. In bytecode, a call with four or more
   arguments has a frame while its arguments are computed. *)
let texts =
  let take = target "Mvar.take" in
  let here = somewhere () and there = elsewhere () in
  let lock by =
    target ~structure:"accounts" "Mutex.lock"
      ~holders:[ { by; domain = 0; held_for = 1.25; held_at = somewhere () } ]
  in
  [
    ("nobody", report [], [ "concord: 0 tasks wait"; "" ]);
    ( "one",
      report [ wait 3 [ take ] ~at:here ],
      [
        "concord: 1 task waits";
        "";
        "fifo, task 3 has waited for 0.5 s";
        "  in Mvar.take";
        "  here:";
        "    FILE:N (Test_debug.somewhere)";
        "    FILE:N (Test_debug.texts)";
      ] );
    ( "a thread, without frames",
      report [ wait 3 [ take ] ~host:"" ~domain:2 ],
      [
        "concord: 1 task waits";
        "";
        "task 3 has waited for 0.5 s";
        "  in Mvar.take";
        "  here:";
        no_frames_line;
      ] );
    ( "a choice, on a domain",
      report
        [
          wait 1 ~domain:2
            [ take; target "" ~structure:"b"; target "Latch.await" ];
        ],
      [
        "concord: 1 task waits";
        "";
        "fifo, task 1 on domain 2 has waited for 0.5 s";
        "  either in Mvar.take";
        "  or in an operation without a name of \"b\"";
        "  or in Latch.await";
        "  here:";
        no_frames_line;
      ] );
    ( "no structure",
      report [ wait 1 [] ],
      [
        "concord: 1 task waits";
        "";
        "fifo, task 1 has waited for 0.5 s";
        "  in no structure";
        "  here:";
        no_frames_line;
      ] );
    ( "made, and held",
      report
        [
          wait 1
            [
              target "Rwlock.write_lock" ~made_at:there
                ~holders:
                  [
                    {
                      by = task 7;
                      domain = 3;
                      held_for = 1.25;
                      held_at = no_frames;
                    };
                    {
                      by = task 8 ~host:"";
                      domain = 0;
                      held_for = 1.25;
                      held_at = here;
                    };
                  ];
            ];
        ],
      [
        "concord: 1 task waits";
        "";
        "fifo, task 1 has waited for 0.5 s";
        "  in Rwlock.write_lock";
        "    created at:";
        "      FILE:N (Test_debug.elsewhere)";
        "      FILE:N (Test_debug.texts)";
        "    depends on fifo, task 7 on domain 3";
        "    held by task 8 for 1.2 s, taken at:";
        "      FILE:N (Test_debug.somewhere)";
        "      FILE:N (Test_debug.texts)";
        "  here:";
        no_frames_line;
      ] );
    (let a = wait 1 [ lock (task 2) ] and b = wait 2 [ lock (task 1) ] in
     let behind = wait 3 [ lock (task 1) ] and other = wait 4 [ take ] in
     let lock_by n =
       [
         "  in Mutex.lock of \"accounts\"";
         Printf.sprintf "    held by fifo, task %d for 1.2 s, taken at:" n;
         "      FILE:N (Test_debug.somewhere)";
         "      FILE:N (Test_debug.texts.lock)";
         "      FILE:N (Test_debug.texts)";
         "  here:";
         no_frames_line;
       ]
     in
     ( "a cycle, one behind it, and another",
       report [ a; b; behind; other ] ~cycles:[ [ a; b ] ] ~behind:[ behind ],
       [
         "concord: 4 tasks wait";
         "";
         "Cycle of 2 tasks, each of which waits for a structure that the next \
          holds";
         "fifo, task 1 has waited for 0.5 s";
       ]
       @ lock_by 2
       @ [ "fifo, task 2 has waited for 0.5 s" ]
       @ lock_by 1
       @ [
           "";
           "Behind them: 1 task waits for the tasks above, or for each other";
           "fifo, task 3 has waited for 0.5 s";
         ]
       @ lock_by 1
       @ [
           "";
           "Not in a cycle: 1 task waits";
           "fifo, task 4 has waited for 0.5 s";
           "  in Mvar.take";
           "  here:";
           no_frames_line;
         ] ));
    (let alone = wait 1 [ take ] in
     ( "a cycle of one",
       report [ alone ] ~cycles:[ [ alone ] ],
       [
         "concord: 1 task waits";
         "";
         "Cycle of 1 task, which waits for what it holds itself";
         "fifo, task 1 has waited for 0.5 s";
         "  in Mvar.take";
         "  here:";
         no_frames_line;
         "";
       ] ));
    ( "woken",
      (let at = somewhere () in
       let woken n = wait n [ take ] ~at ~domain:1 ~for_:(float n) in
       report [] ~woken:[ wait 1 [ take ]; woken 2; woken 3 ]),
      [
        "concord: 0 tasks wait";
        "Woken, but not continued by their schedulers yet: 3 tasks";
        "";
        "fifo, task 1 was woken 0.5 s ago, but has not continued";
        "  in Mvar.take";
        "  here:";
        no_frames_line;
        "2 tasks of fifo on domain 1 were woken 2.0 to 3.0 s ago, but have not \
         continued";
        "  task 2, task 3";
        "  in Mvar.take";
        "  here:";
        "    FILE:N (Test_debug.somewhere)";
        "    FILE:N (Test_debug.texts)";
      ] );
    ( "tasks that wait in the same way",
      (let at = somewhere () and other_at = elsewhere () in
       let like_it n =
         wait n [ take ] ~at ~for_:(0.1 +. (float n /. 12_000.))
       in
       report
         (List.init 12_000 like_it
         @ [
             wait 12_001 [ take ] ~at ~domain:1;
             wait 12_002 [ take ] ~at:other_at;
             wait 12_003 [ target "Mvar.read" ] ~at;
           ])),
      let at name =
        [
          "  here:";
          "    FILE:N (Test_debug." ^ name ^ ")";
          "    FILE:N (Test_debug.texts)";
        ]
      in
      [
        "concord: 12,003 tasks wait";
        "";
        "12,000 tasks of fifo have waited for 0.1 to 1.1 s";
        "  task 0, task 1, task 2, task 3, task 4, task 5, task 6, task 7, \
         task 8, task 9, and 11,990 others";
        "  in Mvar.take";
      ]
      @ at "somewhere"
      @ [
          "fifo, task 12001 on domain 1 has waited for 0.5 s"; "  in Mvar.take";
        ]
      @ at "somewhere"
      @ [ "fifo, task 12002 has waited for 0.5 s"; "  in Mvar.take" ]
      @ at "elsewhere"
      @ [ "fifo, task 12003 has waited for 0.5 s"; "  in Mvar.read" ]
      @ at "somewhere" );
    ( "threads that wait alike",
      report [ wait 1 [ take ] ~host:""; wait 2 [ take ] ~host:"" ],
      [
        "concord: 2 tasks wait";
        "";
        "2 threads have waited for 0.5 s";
        "  task 1, task 2";
        "  in Mvar.take";
        "  here:";
        no_frames_line;
      ] );
    ( "tasks of two schedulers",
      (let by = task 1 ~id:20 in
       let holders : Debug.holder list =
         [ { by; domain = 0; held_for = 1.; held_at = no_frames } ]
       in
       report
         [
           wait 1 ~id:10 [ target "Mutex.lock" ~holders ];
           wait 2 [ take ] ~for_:1.;
         ]),
      [
        "concord: 2 tasks wait";
        "";
        "fifo, task 1 (id 11) has waited for 0.5 s";
        "  in Mutex.lock";
        "    depends on fifo, task 1 (id 21)";
        "  here:";
        no_frames_line;
        "fifo, task 2 has waited for 1.0 s";
        "  in Mvar.take";
        "  here:";
        no_frames_line;
      ] );
    ( "alternatives in another order",
      (let a = target "Mvar.take" ~structure:"a"
       and b = target "Latch.await" ~structure:"b" in
       report [ wait 1 [ a; b ]; wait 2 [ b; a ] ]),
      [
        "concord: 2 tasks wait";
        "";
        "2 tasks of fifo have waited for 0.5 s";
        "  task 1, task 2";
        "  either in Mvar.take of \"a\"";
        "  or in Latch.await of \"b\"";
        "  here:";
        no_frames_line;
      ] );
    ( "names",
      report
        [
          wait 1
            [
              target "Mvar.take" ~state:"2 left"
                ~structure:"Z\195\164hler \"\n\"";
            ];
        ],
      [
        "concord: 1 task waits";
        "";
        "fifo, task 1 has waited for 0.5 s";
        "  in Mvar.take of \"Z\195\164hler \\\"\\n\\\"\" (2 left)";
        "  here:";
        no_frames_line;
      ] );
    ( "forked",
      (let origin n forked_at : Debug.origin = { parent = task n; forked_at } in
       report
         [
           wait 1 [ take ] ~origin:(origin 8 here);
           wait 2 [ take ] ~origin:(origin 9 there);
           wait 3 [ target "Mvar.read" ] ~origin:(origin 9 no_frames);
         ]),
      let rest of_ = [ "  in Mvar." ^ of_; "  here:"; no_frames_line ] in
      [
        "concord: 3 tasks wait";
        "";
        "2 tasks of fifo have waited for 0.5 s";
        "  task 1, task 2";
        "  forked by fifo, task 8 at FILE:N (Test_debug.somewhere), and \
         elsewhere";
      ]
      @ rest "take"
      @ [ "fifo, task 3 has waited for 0.5 s"; "  forked by fifo, task 9" ]
      @ rest "read" );
    ( "running",
      (let runs runs_for n : Debug.running =
         {
           task = task n;
           on_domain = 1;
           runs_for;
           waited_at = here;
           has_waited = n <> 3;
         }
       in
       report [] ~running:[ runs 0.05 1; runs 2. 2; runs 3. 3 ]),
      let at =
        [ "    FILE:N (Test_debug.somewhere)"; "    FILE:N (Test_debug.texts)" ]
      in
      [
        "concord: 0 tasks wait";
        "";
        "";
        "Tasks that began or continued last in their threads, and have not \
         waited since:";
        "  fifo, task 3 on domain 1 began 3.0 s ago, and was forked here:";
      ]
      @ at
      @ [
          "  fifo, task 2 on domain 1 was resumed 2.0 s ago, after a wait here:";
        ]
      @ at );
  ]

(* --- When a stall is reported -------------------------------------------------------- *)

module Stall = Concord__diagnosis.Debug_stall

(* [looks] has the progress that was made at each second. The result lists the seconds in
   which a stall is reported. *)
let stalls ~limit looks =
  let progress (begun, waiting) = { Stall.begun; waiting } in
  let look (state, second, reported) seen =
    let now = float second in
    let state, is_due =
      Stall.step ~limit ~now ~progress:(progress seen) state
    in
    (state, second + 1, if is_due then second :: reported else reported)
  in
  let start = Stall.start ~now:0. ~progress:(progress (List.hd looks)) in
  let _, _, reported = List.fold_left look (start, 0, []) looks in
  List.rev reported

let stall name expected looks () =
  Alcotest.(check (list int)) name expected (stalls ~limit:2. looks)

(* Of a program with few waits, a search is repeated soon, even if the last one had to wait for
   the domain's lock. *)
let pauses () =
  let near = Alcotest.float 1e-6 in
  Alcotest.check near "idle" 0.1 (Stall.pause ~took:0.001 ~waits:1_000);
  Alcotest.check near "many" 200. (Stall.pause ~took:2. ~waits:100_000);
  Alcotest.check near "busy" 0.2 (Stall.pause ~took:0.05 ~waits:100)

(* --- Which slow waits are reported ---------------------------------------------------- *)

module Slow = Concord__diagnosis.Debug_slow

(* [looks] has the slow waits at each second, with their sites. The result has the waits that
   each second reports. *)
let slow ?(limit = 2.) name expected looks () =
  let look (state, second, reported) waits =
    let seen = List.map (fun (number, site) -> { Slow.number; site }) waits in
    let state, numbers = Slow.step ~limit ~now:(float second) seen state in
    (state, second + 1, numbers :: reported)
  in
  let _, _, reported = List.fold_left look (Slow.start, 0, []) looks in
  Alcotest.(check (list (list int))) name expected (List.rev reported)

let one = (1, [ 1 ])
let nobody = (1, [])

let () =
  run "Debug"
    [
      ( "text",
        List.map
          (fun (name, report, expected) ->
            test name (text name expected report))
          texts );
      ( "slow",
        [
          test "once"
            (slow "once" [ [ 1 ]; []; [] ]
               [ [ (1, "a") ]; [ (1, "a") ]; [ (1, "a") ] ]);
          test "not too often"
            (slow ~limit:4. "half of the limit"
               [ [ 1 ]; []; [ 2; 3 ] ]
               [
                 [ (1, "a") ];
                 [ (1, "a"); (2, "b"); (3, "c") ];
                 [ (2, "b"); (3, "c"); (1, "a") ];
               ]);
          test "a site"
            (slow "after ten times the limit"
               ([ [ 1 ] ] @ List.init 19 (fun _ -> []) @ [ [ 21 ] ])
               (List.init 21 (fun i -> [ (i + 1, "a") ])));
        ] );
      ( "stalls",
        [
          test "once" (stall "once" [ 2 ] [ one; one; one; one; one; one ]);
          test "no task waits"
            (stall "none" [] [ nobody; nobody; nobody; nobody ]);
          test "another began"
            (stall "later" [ 4 ]
               [
                 one;
                 one;
                 (2, [ 1; 2 ]);
                 (2, [ 1; 2 ]);
                 (2, [ 1; 2 ]);
                 (2, [ 1; 2 ]);
               ]);
          test "one began and ended in between"
            (stall "later" [ 3 ] [ one; (2, [ 1 ]); (2, [ 1 ]); (2, [ 1 ]) ]);
          test "one ended"
            (stall "later" [ 4 ]
               [
                 (2, [ 1; 2 ]); (2, [ 1; 2 ]); (2, [ 2 ]); (2, [ 2 ]); (2, [ 2 ]);
               ]);
          test "twice"
            (stall "both" [ 2; 5 ]
               [ one; one; one; (2, [ 2 ]); (2, [ 2 ]); (2, [ 2 ]); (2, [ 2 ]) ]);
          test "between two searches for cycles" pauses;
        ] );
    ]
