(* The table of what tasks do, made from events that the test creates. *)

open Concord.Tools
open Concord_test_support
open Concord_trace

let task ?(host = "fifo") id =
  { Trace.id; host; name = Printf.sprintf "task %d" id }

let item ?(at = 0) event =
  { Recorder.pid = 1; time_ns = at; event = Told event }

let lost ?(domain = 0) ~at () =
  let event = Recorder.Lost { domain; since_ns = 0; bytes = 800 } in
  { Recorder.pid = 1; time_ns = at; event }

let suspended ?at ?(domain = 0) ?(structure = "") wait task =
  item ?at
    (Trace.Suspended
       { wait; task; domain; operation = "Mvar.take"; structure; at = "a.ml:1" })

let resumed ?at ?(domain = 0) wait task =
  item ?at (Trace.Resumed { wait; task; domain; outcome = Returned })

let table ?at_most ?(now_ns = 0) items =
  let live = Live.create () in
  List.iter (Live.add live) items;
  Live.table ?at_most live ~now_ns ~since:1.

(* The columns host, domain, tasks and waiting. *)
let counts line =
  String.split_on_char ' ' line
  |> List.filter (fun word -> word <> "")
  |> List.filteri (fun i _ -> i < 4)
  |> String.concat " "

let rows lines =
  List.tl lines |> List.filter (fun line -> line.[2] <> ' ') |> List.map counts

let many () =
  let wait i = suspended ~domain:(i mod 8) i (task i) in
  let lines = table (List.init 4_000 wait) in
  Check.strings "rows"
    (List.init 8 (fun i -> Printf.sprintf "fifo %d 500 500" i)
    @ [ "longest waits" ])
    (rows lines);
  Check.int "lines" (1 + 8 + 1 + 5) (List.length lines)

let little_room () =
  let wait i = suspended ~domain:i i (task i) in
  let lines = table ~at_most:12 (List.init 8 wait) in
  Check.yes "room" (List.length lines <= 12);
  Check.strings "rows"
    [
      "fifo 0 1 1";
      "fifo 1 1 1";
      "fifo 2 1 1";
      "fifo 3 1 1";
      "and 4 more";
      "longest waits";
    ]
    (rows lines)

(* A task is counted where it was seen last, and nowhere once it has ended. *)
let from_domain_to_domain () =
  let job = task ~host:"domainslib" 1 in
  let first = [ suspended 1 job; resumed ~domain:2 1 job ] in
  Check.strings "moved"
    [ "domainslib 0 0 0"; "domainslib 2 1 0" ]
    (rows (table first));
  Check.strings "ended"
    [ "domainslib 0 0 0"; "domainslib 2 0 0" ]
    (rows (table (first @ [ item (Trace.Ended { task = job; domain = 2 }) ])))

(* Rings are read one after the other, so events may come in any order. *)
let in_any_order () =
  Check.strings "no task waits" [ "fifo 0 1 0" ]
    (rows (table [ resumed 1 (task 1); suspended 1 (task 1) ]))

let longest () =
  let wait i = suspended ~at:(1_000_000_000 * i) i (task i) in
  let lines = table ~now_ns:10_000_000_000 (List.init 9 wait) in
  let last = List.filteri (fun i _ -> i >= 3) lines in
  Check.int "five" 5 (List.length last);
  Check.yes "the first" (Check.contains (List.hd last) "10.00 s  fifo, task 0");
  Check.yes "where" (Check.contains (List.hd last) "a.ml:1")

(* --- Events that were lost ------------------------------------------------------ *)

let second = 1_000_000_000
let waiting items = rows (table items)

(* A later event of a task ends its older wait, in whichever order the two are read. *)
let later_event () =
  let waits_once what items =
    Check.strings what [ "fifo 0 1 1"; "longest waits" ] (waiting items)
  and waits_not what items =
    Check.strings what [ "fifo 0 1 0" ]
      (List.filteri (fun i _ -> i < 1) (waiting items))
  in
  let first = suspended ~at:1 1 (task 1)
  and second = suspended ~at:3 2 (task 1) in
  waits_once "another wait" [ first; second ];
  waits_once "another wait, read first" [ second; first ];
  waits_not "the end of another wait" [ first; resumed ~at:3 2 (task 1) ];
  waits_not "that end, read first" [ resumed ~at:3 2 (task 1); first ];
  let ended = item ~at:3 (Trace.Ended { task = task 1; domain = 0 }) in
  Check.strings "its end" [ "fifo 0 0 0" ] (waiting [ first; ended ]);
  Check.strings "its end, read first" [ "fifo 0 0 0" ]
    (waiting [ ended; first ])

(* A loss makes only the waits uncertain that began before it. *)
let after_a_loss () =
  let items =
    [
      suspended ~at:second 1 (task 1);
      lost ~at:(2 * second) ();
      suspended ~at:(3 * second) 2 (task 2);
    ]
  in
  let lines = table ~now_ns:(10 * second) items in
  Check.strings "rows"
    [ "fifo 0 2 1"; "longest waits"; "?: 1 may have" ]
    (rows lines);
  Check.yes "the count" (Check.contains (List.hd lines) "waiting?");
  let longest = List.filter (fun line -> Check.contains line ", task ") lines in
  (match longest with
  | [ sure; unsure ] ->
      Check.yes "the sure one" (Check.contains sure "7.00 s  fifo, task 2");
      Check.yes "the other" (Check.contains unsure "9.00 s? fifo, task 1")
  | _ -> Check.strings "longest" [] longest);
  let live = Live.create () in
  List.iter (Live.add live) items;
  Check.yes "in one line"
    (Check.contains
       (Live.line live ~now_ns:(10 * second) ~since:1.)
       "1 waiting (and perhaps 1 more, because events were lost)");
  (* For another process it has no meaning. *)
  Check.strings "another process"
    [ "fifo 0 1 1"; "longest waits" ]
    (rows
       (table [ suspended ~at:1 1 (task 1); { (lost ~at:2 ()) with pid = 2 } ]))

let lost_ends () =
  let items =
    [
      suspended ~at:1 1 (task 1);
      lost ~at:2 ();
      suspended ~at:3 2 (task 1);
      resumed ~at:4 2 (task 1);
    ]
  in
  Check.yes "counted" (List.mem "  waits whose ends were lost: 1" (table items))

(* Tasks and waits that are over take no memory in the end. *)
let forgotten () =
  let live = Live.create () in
  let words () =
    ignore (Live.table live ~now_ns:0 ~since:1. : string list);
    Check.words live
  in
  let some from =
    for i = from to from + 999 do
      let unknown = { (task i) with name = "an operation" } in
      Live.add live (suspended ~at:(i * second) i unknown);
      Live.add live (resumed ~at:((i * second) + 1) i unknown);
      Live.add live (resumed ~at:(i * second) (-i) (task (-i)))
    done;
    words ()
  in
  let first = some 1_000 in
  for n = 2 to 9 do
    ignore (some (n * 1_000) : int)
  done;
  let last = some 10_000 in
  Check.yes (Printf.sprintf "%d words, then %d" first last) (last <= 2 * first)

(* --- Where the time is spent ------------------------------------------------------ *)

let profile_of items =
  let live = Live.create () in
  List.iter (Live.add live) items;
  Live.profile live

let sums () =
  let wait ?structure n ~at ~for_ns =
    [
      suspended ?structure ~at n (task n); resumed ~at:(at + for_ns) n (task n);
    ]
  in
  let profile =
    profile_of
      (wait 1 ~structure:"jobs" ~at:0 ~for_ns:10
      @ wait 2 ~structure:"jobs" ~at:100 ~for_ns:30
      (* The ring with its end is read first. *)
      @ List.rev (wait 3 ~structure:"jobs" ~at:200 ~for_ns:5)
      @ wait 4 ~at:300 ~for_ns:7
      (* The duration isn't known. *)
      @ [ suspended ~at:400 5 (task 5); suspended ~at:900 6 (task 5) ])
  in
  let text
      ({ operation; structure; at; count; total_ns; longest_ns } : Profile.row)
      =
    Printf.sprintf "%s %s %s: %d, %d, %d" operation structure at count total_ns
      longest_ns
  in
  Check.strings "sums"
    [ "Mvar.take jobs a.ml:1: 3, 45, 30"; "Mvar.take  a.ml:1: 1, 7, 7" ]
    (List.map text (Profile.waits profile))

(* A task moves from domain to domain, and their rings are read in any order. *)
let sums_in_any_order () =
  let steps =
    [
      suspended ~at:1 ~domain:0 1 (task 1);
      resumed ~at:2 ~domain:1 1 (task 1);
      suspended ~at:3 ~domain:2 2 (task 1);
      resumed ~at:4 ~domain:0 2 (task 1);
    ]
  in
  let rec orders = function
    | [] -> [ [] ]
    | all ->
        List.concat_map
          (fun one ->
            List.map (List.cons one)
              (orders (List.filter (fun other -> other != one) all)))
          all
  in
  List.iter
    (fun items ->
      match Profile.waits (profile_of items) with
      | [ row ] ->
          Check.int "count" 2 row.count;
          Check.int "sum" 2 row.total_ns
      | rows -> Check.int "rows" 1 (List.length rows))
    (orders steps)

let pauses_and_marks () =
  let pause pause for_ns =
    let event = Recorder.Paused { domain = 0; pause; for_ns } in
    { Recorder.pid = 1; time_ns = 0; event }
  and mark text = item (Trace.Mark { task = task 1; domain = 0; text }) in
  let profile =
    profile_of
      [
        pause Minor 4;
        pause Major_slice 1;
        pause Minor 3;
        mark "a";
        mark "b";
        mark "b";
      ]
  in
  let text ({ pause; times; sum_ns; most_ns } : Profile.pauses) =
    Printf.sprintf "%s: %d, %d, %d"
      (Profile.name_of_pause pause)
      times sum_ns most_ns
  in
  Check.strings "pauses"
    [ "minor collection: 2, 7, 4"; "slice of the major collection: 1, 1, 1" ]
    (List.map text (Profile.pauses profile));
  Check.strings "marks" [ "b 2"; "a 1" ]
    (List.map
       (fun (text, n) -> Printf.sprintf "%s %d" text n)
       (Profile.marks profile))

let bounded () =
  let profile = Profile.create () in
  for i = 1 to 20_000 do
    Profile.add profile ~operation:"lock" ~structure:(string_of_int i) ~at:"" 1;
    Profile.mark profile (string_of_int i)
  done;
  let waits = Profile.waits profile in
  Check.int "rows" 10_001 (List.length waits);
  Check.strings "the others" [ "others" ] [ (List.hd waits).operation ];
  Check.int "their count" 10_000 (List.hd waits).count;
  Check.int "marks" 1_001 (List.length (Profile.marks profile))

(* --- The last seconds -------------------------------------------------------------- *)

let texts kept =
  let text (item : Recorder.item) =
    match item.event with
    | Told (Trace.Began _) -> "began"
    | Told (Suspended { wait; _ }) -> Printf.sprintf "suspended %d" wait
    | Told (Resumed { wait; _ }) -> Printf.sprintf "resumed %d" wait
    | Told (Forked { task; _ }) -> Printf.sprintf "forked %d" task.id
    | Told (Ended { task; _ }) -> Printf.sprintf "ended %d" task.id
    | Told _ | Lost _ | Paused _ -> "another"
  in
  List.map text (Kept.items kept)

let kept items =
  let kept = Kept.create ~last_ns:(8 * second) () in
  List.iter (Kept.add kept) items;
  kept

let forked ~at n =
  item ~at
    (Trace.Forked { task = task n; parent = task 0; domain = 0; at = "" })

let last_seconds () =
  let at n = n * second in
  let items =
    [
      item ~at:1 (Trace.Began { program = "a" });
      (* This wait is over. *)
      forked ~at:(at 1) 1;
      suspended ~at:(at 1) 1 (task 1);
      resumed ~at:(at 2) 1 (task 1);
      item ~at:(at 3) (Trace.Ended { task = task 1; domain = 0 });
      (* This one is over too, but its end is read before its beginning. *)
      resumed ~at:(at 5) ~domain:1 3 (task 3);
      suspended ~at:(at 4) 3 (task 3);
      (* This task continues. *)
      forked ~at:(at 1) 2;
      suspended ~at:(at 2) 2 (task 2);
      resumed ~at:(at 35) ~domain:1 2 (task 2);
    ]
  in
  Check.strings "unfinished tasks and waits"
    [ "began"; "forked 2"; "suspended 2"; "resumed 2"; "suspended 4" ]
    (texts (kept (items @ [ suspended ~at:(at 36) 4 (task 4) ])));
  Check.strings "all"
    [ "suspended 1"; "resumed 1" ]
    (let all = Kept.create () in
     Kept.add all (suspended ~at:1 1 (task 1));
     Kept.add all (resumed ~at:(at 1000) 1 (task 1));
     texts all)

(* [test_sampled] says what is left. *)
let at_most () =
  let kept = Kept.create ~most:100 () in
  Kept.add kept (suspended ~at:1 0 (task 0));
  for i = 1 to 1_000 do
    let at = i * second / 100 in
    Kept.add kept (suspended ~at i (task 1));
    Kept.add kept (resumed ~at:(at + 1) i (task 1));
    if i mod 50 = 0 then Kept.trim kept
  done;
  let texts = texts kept in
  Check.yes "not too many" (List.length texts <= 101);
  Check.yes "not too few" (List.length texts > 60);
  Check.strings "what is open" [ "suspended 0" ] [ List.hd texts ];
  Check.yes "the newest" (List.mem "resumed 1000" texts);
  Check.yes "it is said" (Option.is_some (Kept.sampling kept));
  let all = Kept.create ~most:100 () in
  Kept.add all (suspended ~at:1 0 (task 0));
  Kept.trim all;
  Check.yes "nothing is said" (Option.is_none (Kept.sampling all))

(* The waits of a day take as much memory as those of some seconds. *)
let a_day () =
  let kept = Kept.create ~last_ns:(8 * second) () in
  let seconds from n =
    for i = from to from + n - 1 do
      Kept.add kept (suspended ~at:(i * second) i (task (i mod 10)));
      Kept.add kept (resumed ~at:((i * second) + 1) i (task (i mod 10)))
    done;
    Check.words kept
  in
  let first = seconds 1 100 in
  Check.yes "no growth" (seconds 101 86_400 <= first + (first / 2))

let aligned () =
  let host = "Concord_styles.Delimited" in
  match table [ suspended 1 (task 1); suspended 2 (task ~host 2) ] with
  | head :: one :: other :: _ ->
      let length = String.length in
      Check.int "one" (length head) (length one);
      Check.int "other" (length head) (length other)
  | lines -> Check.strings "lines" [] lines

let narrow () =
  Check.strings "lines" [ "abc"; "ab"; "" ]
    (List.map (Screen.fit ~columns:3) [ "abcdef"; "ab"; "" ])

let () =
  Check.run "live"
    [
      ( "table",
        [
          Check.test "many tasks" many;
          Check.test "little room" little_room;
          Check.test "from domain to domain" from_domain_to_domain;
          Check.test "in any order" in_any_order;
          Check.test "longest waits" longest;
          Check.test "long names" aligned;
          Check.test "narrow" narrow;
        ] );
      ( "lost events",
        [
          Check.test "a later event ends a wait" later_event;
          Check.test "waits that may have ended" after_a_loss;
          Check.test "ends that were lost" lost_ends;
          Check.test "forgotten" forgotten;
        ] );
      ( "profile",
        [
          Check.test "sums" sums;
          Check.test "sums, in any order" sums_in_any_order;
          Check.test "pauses and marks" pauses_and_marks;
          Check.test "bounded" bounded;
        ] );
      ( "the last seconds",
        [
          Check.test "unfinished tasks and waits" last_seconds;
          Check.test "at most" at_most;
          Check.test "a day" a_day;
        ] );
    ]
