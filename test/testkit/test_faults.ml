(* A host without a fault passes. Each fault is found by the check of its clause, and by the
   other checks that are named here, because their clauses are about the same. *)

open Concord_testkit
open Concord_test_support
open Check

let found ?seconds ?only host =
  let report = Host.check ~seed:1 ?seconds ?only host in
  let what Report.{ clause; verdict; _ } =
    match verdict with
    | Kept -> None
    | Broken _ -> Some clause
    | Not_offered _ -> Some (clause ^ " is not offered")
  in
  ( List.map (fun line -> line.Report.clause) report.lines,
    List.filter_map what report.lines )

(* All are declared while the lists of tests are made. *)
let declared ?fault ?not_offered name =
  Host.declare (Small.host ?fault ?not_offered name)

let small = declared "small"
let without_fault = lazy (found ~seconds:20. small)
let no_fault () = strings "found" [] (snd (Lazy.force without_fault))
let faults = ref 0

(* The checks must find these faults and no others. If [alone], they may also find others, by
   chance. An expected fault may be a hang, for which the test waits only a short time. The
   other checks get enough time for a slow machine. The checks that must find nothing are
   drawn, and differ for each fault. *)
let fault ?(alone = false) name fault expected =
  incr faults;
  let host = declared ~fault name and turn = !faults in
  test name @@ fun () ->
  let names =
    List.map (fun s -> List.hd (String.split_on_char ' ' s)) expected
  in
  let may_hang = names = expected in
  let others =
    List.filter
      (fun c -> not (List.mem c names))
      (fst (Lazy.force without_fault))
  in
  strings "found" expected
    (snd (found ~seconds:(if may_hang then 1. else 20.) ~only:names host));
  if not alone then
    strings "also found" []
      (snd (found ~seconds:20. ~only:(Race.drawn ~turn others) host))

let broken ?(seconds = 20.) only host =
  let report = Host.check ~seed:1 ~seconds ~only:[ only ] host in
  no "passed" (Report.passed report);
  match Report.verdict report only with
  | Broken text -> text
  | Kept | Not_offered _ -> Alcotest.fail "it is not broken"

let says what text part =
  if not (contains text part) then
    Alcotest.failf "%s: %S does not contain %S" what text part

let texts =
  let calls = declared ~fault:Calls_block_again "H1"
  and closes = declared ~fault:Closes_resumers "end"
  and forgets = declared ~fault:Forgets_one_bell "H4"
  and exits = declared ~fault:Exits "H2"
  and crashes = declared ~fault:Crashes "H2"
  and cancels = declared ~fault:Cancels_too_late "S3"
  and ends = declared ~fault:Ends_all_protects "protect"
  and loses = declared ~fault:Loses_protected_cancel "protect"
  and swallows = declared ~fault:Swallows_late_failures "failures" in
  fun () ->
    says "what was seen" (broken "H1" calls)
      "block returns Some v: calls of block: expected 1, but it was 2";
    says "what was raised" (broken "end" closes)
      "a resumer is called again: raised Invalid_argument";
    says "a hang"
      (broken ~seconds:0.5 "H4" forgets)
      "hangs (no result in 0.5 s)";
    says "the end" (broken "H2" exits) "the process exited with code 3";
    says "a signal" (broken "H2" crashes) "the process was killed by SIGSEGV";
    says "the inner protect" (broken "protect" ends)
      "a task is cancelled in the inner of two protects: the task was \
       cancelled in the outer protect, after the inner one had ended";
    says "a lost cancellation" (broken "protect" loses)
      "a task is cancelled in protect: the task returned after protect, \
       although it had been cancelled in it";
    says "a late failure"
      (broken "failures" swallows)
      "another task raises after the first one has ended: a task raised, but \
       run returned and nothing was printed on stderr";
    says "a clause that stops everything" (broken "S3" cancels)
      "nothing is left that could resume one"

(* The check forces the exact order, so no race has to be lost by chance. *)
let race_by_hand =
  let sleeps = declared ~fault:Sleeps_too_early "H4"
  and runs = declared ~fault:Runs_in_resumer "H2" in
  fun () ->
    says "the sleep" (broken "H4" sleeps)
      "a task is resumed when the loop begins to sleep: the loop sleeps \
       although a task is ready";
    says "the resumer that runs the task" (broken "H2" runs)
      "by another task: the resumer runs the task inside the call"

(* If everything would hang, the cause is reported once, and soon. *)
let first_of_all =
  let case fault clause cause =
    (declared ~fault (clause ^ " is broken"), clause, cause)
  in
  let cases =
    [
      case Is_never_innermost "reach"
        "the effect Suspend never reached your handler";
      case Has_no_handler "reach"
        "the effect Suspend never reached your handler";
      case Starves_while_one_waits "reach" "the scheduler starves it";
      case Starves_one_spawned "turns"
        "of 3 tasks that are spawned, number 3 has not run for 4 s";
      case Starves_one_resumed "turns"
        "of 3 tasks that are resumed, number 3 has not run for 4 s";
    ]
  in
  let look (host, clause, cause) =
    let begun = Unix.gettimeofday () in
    let report = Host.check ~seed:1 host in
    let took = Unix.gettimeofday () -. begun in
    if took > 15. then Alcotest.failf "it took %g s" took;
    strings "broken" [ clause ] (Report.broken report);
    List.iter
      (fun line ->
        match line.Report.verdict with
        | Broken text -> says clause text cause
        | Kept -> strings "what is kept" [ "reach" ] [ line.clause ]
        | Not_offered why ->
            Alcotest.(check string)
              line.clause
              (Printf.sprintf "skipped, because %s is broken" clause)
              why)
      report.lines
  in
  fun () -> List.iter look cases

(* One fault may make many clauses hang. The first one takes all of its time, and the others
   take little. Each still has its own verdict, up to a limit. *)
let many_hangs =
  let host = declared ~fault:Never_wakes "hangs" in
  let seconds text =
    Scanf.sscanf_opt
      (List.nth (String.split_on_char '(' text) 1)
      "no result in %g s)" Fun.id
  in
  fun () ->
    let report = Host.check ~seed:1 ~seconds:6. host in
    let hang line =
      match line.Report.verdict with
      | Broken text when contains text "hangs (" -> seconds text
      | Broken _ | Kept | Not_offered _ -> None
    in
    let hangs = List.filter_map hang report.lines in
    yes "several hang" (List.length hangs > 3);
    yes "the first one takes its time" (List.hd hangs = 6.);
    yes "the others are short" (List.for_all (( = ) 1.) (List.tl hangs));
    yes "not too many" (List.fold_left ( +. ) 0. hangs <= 12.);
    yes "a clause that does not hang has its verdict"
      (Report.verdict report "H1" = Kept)

(* A clause is not offered only if the host says so. *)
let declarations =
  let declared name not_offered =
    declared ~fault:Takes_any_effect ~not_offered name
  in
  let silent = declared "silent" []
  and frank = declared "frank" [ ("foreign", "it takes any effect") ] in
  fun () ->
    let check host = Host.check ~seed:1 ~seconds:20. ~only:[ "foreign" ] host in
    let report = check silent in
    strings "broken" [ "foreign" ] (Report.broken report);
    let text = Report.to_string report in
    says "where to read" text
      "read:   For authors of schedulers, \"Foreign loops inside your tasks\"";
    says "how to declare" text
      "declare it: let not_offered = [ (\"foreign\", \"the reason\") ]";
    let report = check frank in
    yes "declared"
      (Report.verdict report "foreign" = Not_offered "it takes any effect");
    yes "passed" (Report.passed report);
    let refuses clause =
      match declared "refused" [ (clause, "a reason") ] with
      | (_ : Host.t) -> Alcotest.failf "%s is accepted" clause
      | exception Invalid_argument text ->
          says clause text ("Host.declare: not_offered has " ^ clause);
          says clause text "backtraces, inside, nested, around"
    in
    List.iter refuses [ "H9"; "H1"; "turns"; "S3" ]

module Trial = Concord_testkit__Trial

(* Slow isn't the same as hanging. Only the time in which nothing happens counts. *)
let slow () =
  let rounds ~alive () =
    for _ = 1 to 8 do
      Unix.sleepf 0.25;
      if alive then Trial.alive ()
    done
  in
  let verdict alive =
    Trial.run ~seconds:1. [ Trial.case "rounds" (rounds ~alive) ]
  in
  yes "kept" (verdict true = Report.Kept);
  yes "hangs" (verdict false = Report.Broken "rounds: hangs (no result in 1 s)")

let refused what f =
  match f () with
  | () -> Alcotest.failf "%s: it is accepted" what
  | exception Invalid_argument _ -> ()

let report =
  Report.
    {
      subject = "a host";
      seed = 7;
      lines =
        [
          { clause = "H1"; about = "this"; advice = []; verdict = Kept };
          {
            clause = "protect";
            about = "that";
            advice = [ ("read", "a page"); ("or", "declare it") ];
            verdict = Broken "seen";
          };
          {
            clause = "S3";
            about = "more";
            advice = [ ("read", "a page") ];
            verdict = Not_offered "why";
          };
        ];
    }

let printed_report () =
  strings "lines"
    [
      "a host (seed 7)";
      "H1       kept    this";
      "protect  BROKEN  seen";
      "         rule:   that";
      "         read:   a page";
      "         or:     declare it";
      "S3       -       why";
      "1 kept, 1 broken, 1 not offered";
      "Concord_suspend has the contract. The pages \"For authors of \
       schedulers\" and \"Writing a structure\" explain this report.";
      "";
    ]
    (String.split_on_char '\n' (Report.to_string report));
  strings "broken" [ "protect" ] (Report.broken report);
  no "passed" (Report.passed report);
  yes "a missing feature is not a fault"
    (Report.passed { report with lines = [ List.nth report.lines 2 ] })

let misuse () =
  let check ?seconds only () =
    ignore (Host.check ?seconds ~only small : Report.t)
  in
  refused "an unknown clause" (check [ "H9" ]);
  refused "no time" (check ~seconds:0. [ "H1" ]);
  refused "no number" (check ~seconds:Float.nan [ "H1" ]);
  Unix.putenv "CONCORD_SEED" "1e3";
  refused "an invalid seed" (check [ "H1" ]);
  Unix.putenv "CONCORD_SEED" "7";
  Check.int "the seed" 7 (Host.check ~only:[] small).seed;
  Unix.putenv "CONCORD_SEED" "";
  check [ "S4" ] ();
  refused "a host that is declared late" (fun () ->
      ignore (declared "late" : Host.t))

let () =
  Alcotest.run "Faulty hosts"
    [
      ("no fault", [ test "all is kept" no_fault ]);
      ( "faults",
        [
          fault "H1" Calls_block_again ~alone:true [ "H1" ];
          fault "H2: it runs the task" Runs_in_resumer [ "H2"; "signals" ];
          fault "H2: it blocks" Resumer_blocks [ "H1"; "H2" ];
          fault "H3: a promise is broken" Breaks_promise [ "H3"; "S2" ];
          fault "H3: two are accepted" Accepts_again ~alone:true [ "H3"; "end" ];
          fault "H4" Forgets_one_bell [ "H4" ];
          fault "H4: a race" Sleeps_too_early ~alone:true [ "H4" ];
          fault "S1" Drops_in_block [ "S1" ];
          fault "S3" Cancels_too_late [ "S3"; "inside"; "protect" ];
          fault "S4" Has_four_places [ "S4" ];
          fault "S5" Stops_recording [ "S5" ];
          fault "backtraces" Loses_backtrace [ "backtraces" ];
          fault "inside" Blocks_its_thread [ "inside" ];
          fault "around" Blocks_for_loops [ "around" ];
          fault "foreign" Takes_any_effect [ "foreign" ];
          fault "inside: it leaves tasks" Leaves_its_tasks [ "inside" ];
          fault "inside: it sleeps on" Sleeps_on [ "inside" ];
          fault "nested" Leaves_inner_current [ "nested" ];
          fault "domains" One_at_a_time [ "nested"; "domains" ];
          fault "protect" Ignores_protect [ "protect" ];
          fault "protect: in another" Ends_all_protects [ "protect" ];
          fault "protect: lost" Loses_protected_cancel [ "protect" ];
          fault "protect: too late" Protects_no_cancelled_task [ "protect" ];
          fault "protect: together" Counts_protects_together [ "protect" ];
          fault "queued" Forgets_queued_cancel [ "queued" ];
          fault "stack" Grows_its_stack [ "stack" ];
          fault "idle" Never_sleeps [ "idle" ];
          fault "signals" Holds_a_lock [ "signals" ];
          fault "fair" Prefers_its_own [ "fair" ];
          fault "failures" Swallows_failures [ "failures" ];
          fault "failures: late" Swallows_late_failures [ "failures" ];
          fault "end" Closes_resumers [ "end" ];
        ] );
      ( "reports",
        [
          test "texts" texts;
          test "what all depends on" first_of_all;
          test "races by hand" race_by_hand;
          test "what hangs" many_hangs;
          test "what is not offered" declarations;
          test "lines" printed_report;
          test "slow" slow;
        ] );
      ("misuse", [ test "is refused" misuse ]);
    ]
