(* The table of what tasks do, from events that the test makes. *)

open Concord.Tools
open Concord_test_support
open Concord_trace

let task ?(host = "fifo") id =
  { Trace.id; host; name = Printf.sprintf "task %d" id }

let item ?(at = 0) event = { Recorder.pid = 1; time_ns = at; event }

let suspended ?at ?(domain = 0) wait task =
  item ?at
    (Trace.Suspended
       {
         wait;
         task;
         domain;
         operation = "Mvar.take";
         structure = "";
         at = "a.ml:1";
       })

let resumed ?at ?(domain = 0) wait task =
  item ?at (Trace.Resumed { wait; task; domain; outcome = Returned })

let table ?at_most ?(now_ns = 0) items =
  let live = Live.create () in
  List.iter (Live.add live) items;
  Live.table ?at_most live ~now_ns ~since:1.

(* Host, domain, tasks, waiting. *)
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

(* It is where it was seen last, and nowhere when it has ended. *)
let from_domain_to_domain () =
  let job = task ~host:"domainslib" 1 in
  let first = [ suspended 1 job; resumed ~domain:2 1 job ] in
  Check.strings "moved"
    [ "domainslib 0 0 0"; "domainslib 2 1 0" ]
    (rows (table first));
  Check.strings "ended"
    [ "domainslib 0 0 0"; "domainslib 2 0 0" ]
    (rows (table (first @ [ item (Trace.Ended { task = job; domain = 2 }) ])))

(* Rings are read one after the other. *)
let in_any_order () =
  Check.strings "none waits" [ "fifo 0 1 0" ]
    (rows (table [ resumed 1 (task 1); suspended 1 (task 1) ]))

let longest () =
  let wait i = suspended ~at:(1_000_000_000 * i) i (task i) in
  let lines = table ~now_ns:10_000_000_000 (List.init 9 wait) in
  let last = List.filteri (fun i _ -> i >= 3) lines in
  Check.int "five" 5 (List.length last);
  Check.yes "the first" (Check.contains (List.hd last) "10.00 s  fifo, task 0");
  Check.yes "where" (Check.contains (List.hd last) "a.ml:1")

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
    ]
