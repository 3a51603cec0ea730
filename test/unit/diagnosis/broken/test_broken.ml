(* What a report must say of each program of broken.ml. *)

open Concord_test_support

type case = {
  mode : string;
  words : string;  (** Of [CONCORD_DEBUG]. *)
  says : string list;  (** In this order. *)
  or_inlined : string list option;
      (** The same if the library's functions were inlined. *)
  never : string list;
}

let case ?(words = "sigquit") ?(never = []) ?or_inlined mode says =
  { mode; words; says; or_inlined; never }

let cycle n =
  Printf.sprintf
    "Cycle of %d tasks, each of which waits for a structure that the next holds"
    n

(* A report of these must not find a cycle. *)
let no_cycle ?words ?or_inlined mode says =
  case ?words ?or_inlined ~never:[ "Cycle of" ] mode says

let cases =
  [
    case "inversion, Eio and pool"
      [
        "concord: 2 tasks wait\n";
        cycle 2;
        "in Mutex.lock of ";
        "(Broken.mutex)";
        "held by ";
        "(Broken.locks_both)";
        "here:";
        "(Broken.locks_both.(fun))";
        "held by ";
      ];
    case "inversion, Lwt and thread"
      [ cycle 2; "in Mutex.lock of "; "held by "; "(Broken.locks_both)" ]
      ~never:[ "Lwt_sequence"; "a scheduler, a task" ];
    case "reads again behind a writer"
      [
        "Cycle of 1 task, which waits for what it holds itself";
        "thread 0";
        "in Rwlock.read_lock of \"table\"";
        "held by thread 0";
        "(Broken.reads_twice)";
        "Behind them: 1 task waits";
        "in Rwlock.write_lock of \"table\"";
      ];
    (* Either of the two tasks may come first. *)
    case "lazy through a job"
      [
        cycle 2;
        "in Promise.await";
        "depends on workers, job 1 of pool";
        "(Broken.lazy_through_a_job.(fun))";
      ];
    case "lazy through a job"
      [
        cycle 2;
        "in Lazy.force of \"config\"";
        "held by eio, fiber 1";
        "(Broken.forced_in_itself.force)";
      ];
    (* The wait of the fiber that computes the value is Eio's own. *)
    no_cycle "lazy on itself"
      [
        "eio, fiber 2 has waited";
        "forked by eio, fiber 1";
        "in Lazy.force of \"config\"";
        "held by eio, fiber 1";
        "(Broken.forced_in_itself.force)";
      ];
    case "jobs wait for jobs"
      [
        cycle 2;
        "depends on workers, job ";
        "(Broken.jobs_for_jobs.(fun).job)";
        "depends on workers, job ";
        "Behind them: 1 task waits";
        "eio, fiber 1";
      ];
    no_cycle "computing job"
      [
        "eio, fiber 1 has waited";
        "in Promise.await of \"image\"";
        "depends on workers, job 1 of pool\n";
        "Tasks that began or continued last in their threads";
        "workers, job 1 of pool on domain 1 began ";
        " s ago, and was forked here:";
        "(Broken.computing_job.(fun))";
      ];
    no_cycle "busy loop in Eio"
      [
        "Woken, but not continued by their schedulers yet: 1 task";
        "eio, fiber 1 was woken";
        "in Mvar.take of \"box\"";
        "Tasks that began or continued last in their threads";
        "was resumed";
        "(Broken.stands_still.(fun).blocks)";
      ];
    no_cycle "Thread.join in Eio"
      [
        "eio, fiber 1 was woken";
        "in Mvar.take of \"box\"";
        "Tasks that began or continued last in their threads";
        "(Broken.stands_still.(fun).blocks)";
      ];
    case "each needs two resources"
      [
        "Cycle of";
        "in Pool.use of \"connections\" (2 in use of 2)";
        "held by eio, fiber ";
        "(Broken.each_needs_two.transfers)";
        "held by eio, fiber ";
        "here:";
        "(Broken.each_needs_two.transfers.(fun))";
      ];
    case "each needs two permits"
      [
        "Cycle of";
        "in Semaphore.Counting.acquire of \"permits\" (0 permits left)";
        "held by eio, fiber ";
        "(Broken.two_permits.copies)";
        "held by eio, fiber ";
        "here:";
        "(Broken.two_permits.copies.(fun))";
      ];
    (* The third permit will come back. *)
    no_cycle "two of three permits"
      [
        "in Semaphore.Counting.acquire of \"permits\" (0 permits left)";
        "held by eio, fiber ";
        "held by eio, fiber ";
      ];
    no_cycle "resource never given back"
      [
        "2 tasks of eio have waited";
        "in Pool.use of \"connections\" (1 in use of 1)";
        "held by eio, fiber 2";
        "(Broken.never_given_back.streams)";
        "(Broken.never_given_back.queries)";
      ];
    no_cycle "leaked permit"
      [
        "in Semaphore.Counting.acquire of \"permits\" (0 permits left)";
        "(Broken.leaked_permit.fetches)";
      ];
    no_cycle "lost wake-up"
      [ "in Condition.wait of \"arrived\""; "(Broken.lost_wakeup.waits.(fun))" ];
    no_cycle "promise nobody fills"
      [
        "in Promise.await of \"answer\"";
        "created at:";
        "(Broken.unfilled)";
        "here:";
        "(Broken.unfilled.asks)";
      ];
    no_cycle "beside loops"
      [
        "concord: 1 task waits\n";
        "thread 0 has waited";
        "in Promise.await of \"answer\"";
        "(Broken.beside_loops.asks)";
      ];
    (* If [await] was inlined, as from an installed package, its frame knows the line. *)
    no_cycle "tail call"
      [
        "in Promise.await of \"answer\"";
        "here:\n    (no frame of the program, because this was a tail call)\n";
      ]
      ~or_inlined:
        [
          "in Promise.await of \"answer\"";
          "  here:\n    ";
          "broken.ml:316 (Broken.tail_call.(fun))\n";
        ];
    no_cycle "dead consumer"
      [
        "concord: 1 task waits";
        "in Stream.add of \"jobs\" (2 of 2 items)";
        "(Broken.dead_consumer.produces)";
      ];
    no_cycle "stuck in protect"
      [ "in Promise.await of \"flushed\""; "(Broken.stuck_in_protect.stops)" ];
    no_cycle "lagging subscriber"
      [
        "in Broadcast.send of \"news\" (2 of 2 values, 2 subscriptions)";
        "held by eio, fiber 2";
        "(Broken.lagging_subscriber.lags)";
        "here:";
        "(Broken.lagging_subscriber.sends)";
      ];
    no_cycle "subscribed for another"
      [
        "concord: 2 tasks wait";
        "in Broadcast.send of \"news\" (2 of 2 values, 1 subscription)";
        "held by eio, fiber 1";
        "(Broken.subscribed_for_another.subscribes)";
        "here:";
        "(Broken.subscribed_for_another.sends";
        "in Mutex.lock of \"log\"";
        "held by eio, fiber 2";
      ];
    no_cycle "convoy"
      [
        "9 tasks of eio have waited";
        "fiber 3, fiber 4, fiber 5";
        "in Mutex.lock of \"cache\"";
        "held by eio, fiber 2";
        "(Broken.convoy.looks_up)";
      ];
    no_cycle "blocked Lwt loop"
      [
        "lwt, task 1 was woken";
        "in Mvar.take of \"box\"";
        "(Broken.blocked_lwt.(fun).takes.(fun))";
      ];
    no_cycle "growing mailbox"
      [ "concord: 0 tasks wait"; "mailbox \"events\": 1,000 items" ];
    no_cycle "leaked continuation"
      [ "in no structure"; "(Broken.leaked_continuation.waits)" ];
    no_cycle "partly blocked"
      [
        "in Mutex.lock of \"accounts\"";
        "held by eio, fiber 2";
        "(Broken.partly_blocked.keeps)";
        "(Broken.partly_blocked.needs)";
      ];
  ]

(* --- Reports ------------------------------------------------------------------ *)

(* Where [part] begins in [text], at [from] or later. *)
let rec find text part from =
  let n = String.length part in
  if from + n > String.length text then None
  else if String.sub text from n = part then Some from
  else find text part (from + 1)

let rec first_missing text from = function
  | [] -> None
  | part :: parts -> (
      match find text part from with
      | None -> Some part
      | Some at -> first_missing text (at + String.length part) parts)

(* Eio's versions number fibers differently, but always in the order in which they began. In the
   result, the fibers that [text] names are numbered from 1. *)
let renumbered text =
  let fibers = Str.regexp "fiber \\([0-9]+\\)" in
  let number text = int_of_string (Str.matched_group 1 text) in
  let rec numbers from =
    match Str.search_forward fibers text from with
    | exception Not_found -> []
    | at ->
        let n = number text in
        n :: numbers (at + 1)
  in
  let order = List.sort_uniq compare (numbers 0) in
  let rank n = 1 + List.length (List.filter (fun other -> other < n) order) in
  Str.global_substitute fibers
    (fun text -> Printf.sprintf "fiber %d" (rank (number text)))
    text

let fault { says; or_inlined; never; _ } text =
  let text = renumbered text in
  let is_there says = first_missing text 0 says = None in
  match
    ( (if Option.fold ~none:false ~some:is_there or_inlined then None
       else first_missing text 0 says),
      List.find_opt (fun part -> find text part 0 <> None) never )
  with
  | None, None -> None
  | Some part, _ -> Some (Printf.sprintf "%S is missing" part)
  | None, Some part -> Some (Printf.sprintf "%S should not be there" part)

(* The starts of all reports so far. *)
let reports text =
  let starts line =
    String.starts_with ~prefix:"concord: " line
    && (String.ends_with ~suffix:" task waits" line
       || String.ends_with ~suffix:" tasks wait" line)
  in
  let add (at, found) line =
    (at + String.length line + 1, if starts line then at :: found else found)
  in
  List.rev (snd (List.fold_left add (0, []) (String.split_on_char '\n' text)))

(* A report is complete once the next one begins. *)
let next_report child =
  let before = List.length (reports (Child.so_far child)) in
  let ask n =
    Child.signal child Sys.sigquit;
    Check.eventually "a report" (fun () ->
        List.length (reports (Child.so_far child)) >= before + n)
  in
  ask 1;
  ask 2;
  let text = Child.so_far child in
  let starts = reports text in
  let from = List.nth starts before and until = List.nth starts (before + 1) in
  String.sub text from (until - from)

(* How long a task has run is shown after a tenth of a second, and some programs need a moment
   more after they are ready. *)
let says case () =
  Child.during ~debug:case.words "broken.exe" case.mode (fun child ->
      Child.says child "ready";
      let deadline = Unix.gettimeofday () +. 10. in
      let rec look () =
        let report = next_report child in
        match fault case report with
        | None -> ()
        | Some _ when Unix.gettimeofday () < deadline -> look ()
        | Some fault -> Alcotest.failf "%s in:\n%s" fault report
      in
      look ())

(* --- Slow waits ------------------------------------------------------------- *)

(* What a program says without a signal, while the rest of it may continue. *)
let slow_cases =
  let case = case ~words:"slow=1" in
  let first = "these tasks have waited for more than 1 s." in
  [
    case "partly blocked"
      [
        first;
        "in Mutex.lock of \"accounts\"";
        "held by eio, fiber 1";
        "(Broken.partly_blocked.needs)";
      ];
    case "convoy"
      [
        first;
        "9 tasks of eio";
        "in Mutex.lock of \"cache\"";
        "held by eio, fiber 2";
      ];
    case "resource never given back"
      [ first; "in Pool.use of \"connections\" (1 in use of 1)"; "held by eio" ];
    case "two of three permits"
      [
        first;
        "in Semaphore.Counting.acquire of \"permits\" (0 permits left)";
        "held by eio";
        "(Broken.two_of_three.copies)";
      ];
    case "lagging subscriber"
      [
        first;
        "in Broadcast.send of \"news\" (2 of 2 values, 2 subscriptions)";
        "held by eio";
        "(Broken.lagging_subscriber.lags)";
      ];
    case "jobs wait for jobs"
      [ first; "in Promise.await"; "depends on workers, job " ];
    case "lazy through a job"
      [ first; "in Lazy.force of \"config\""; "held by eio, fiber 1" ];
    case "computing job"
      [
        first;
        "in Promise.await of \"image\"";
        "depends on workers, job 1 of pool\n";
      ];
    case "dead consumer" [ first; "in Stream.add of \"jobs\" (2 of 2 items)" ];
    case "Thread.join in Eio" [ first; "eio, fiber 1 was woken"; "of \"box\"" ];
  ]

(* The longest wait that a report names. *)
let longest text =
  let times = Str.regexp "\\(waited for\\|woken\\) \\([0-9.]+\\) s" in
  let rec from at =
    match Str.search_forward times text at with
    | exception Not_found -> 0.
    | at ->
        let seconds = float_of_string (Str.matched_group 2 text) in
        Float.max seconds (from (at + 1))
  in
  from 0

let rec start_all cases f =
  match cases with
  | [] -> f []
  | case :: rest ->
      Child.during ~debug:case.words "broken.exe" case.mode (fun child ->
          start_all rest (fun started -> f ((case, child) :: started)))

(* All are started at once, because each takes a second or two. *)
let slow () =
  start_all slow_cases @@ fun started ->
  let check (case, child) =
    let fault () = fault case (Child.so_far child) in
    (match Check.eventually case.mode (fun () -> Option.is_none (fault ())) with
    | () -> ()
    | exception e ->
        Option.iter prerr_endline (fault ());
        prerr_endline (Child.so_far child);
        raise e);
    let longest = longest (Child.so_far child) in
    Check.yes
      (Printf.sprintf "%s: reported after %g s" case.mode longest)
      (longest >= 1. && longest <= 2.)
  in
  List.iter check started

let () =
  Check.run "broken"
    [
      ("reports", List.map (fun case -> Check.test case.mode (says case)) cases);
      ("slow", [ Check.test "within twice the time" slow ]);
    ]
