(* The columns of concord-trace top, from events that the test creates, and its keys. *)

open Concord.Tools
open Concord_test_support
open Concord_trace

let ms n = n * 1_000_000
let task id = { Trace.id; host = "fifo"; name = Printf.sprintf "task %d" id }
let item ms_ event = { Recorder.pid = 1; time_ns = ms ms_; event = Told event }

let suspends at ?(operation = "Mutex.lock") ?(structure = "lock")
    ?(line = "a.ml:1") wait id =
  item at
    (Trace.Suspended
       { wait; task = task id; domain = 0; operation; structure; at = line })

let wakes at wait id =
  item at
    (Trace.Woken
       { wait; by = task id; domain = 0; suspended_on = 0; ago_ns = 0 })

let resumes at wait id =
  item at
    (Trace.Resumed { wait; task = task id; domain = 0; outcome = Returned })

(* Task 1 has the lock, and wakes task 2 at 300 ms. That one keeps it for 400 ms and wakes task 3,
   which goes on. Task 4 waits for a letter all the while, and task 5 in a line without a name. *)
let story =
  [
    suspends 1 ~operation:"Mailbox.take" ~structure:"letters" 10 4;
    suspends 100 1 2;
    suspends 200 2 3;
    suspends 500 ~operation:"Mvar.take" ~structure:"" 11 5;
    wakes 300 1 1;
    resumes 300 1 2;
    wakes 700 2 2;
    resumes 700 2 3;
  ]

let at_1_s items =
  let model = Top_model.create () in
  List.iter (Top_model.add model) items;
  (model, Top_model.snapshot model ~now_ns:(ms 1_001))

let lines ?(view = Top_view.start) ?(rows = 12) ?(columns = 100)
    (model, snapshot) =
  Top_view.lines view model snapshot ~title:"TITLE" ~rows ~columns

let trimmed lines =
  let from_right line =
    let n = ref (String.length line) in
    while !n > 0 && line.[!n - 1] = ' ' do
      decr n
    done;
    String.sub line 0 !n
  in
  List.map from_right lines

let are name expected lines =
  Alcotest.(check (list string)) name expected (trimmed lines)

let press keys shown =
  List.fold_left
    (fun view key ->
      match Top_view.press view (snd shown) key with
      | Some view -> view
      | None -> Alcotest.fail "it has quit")
    Top_view.start keys

let structures () =
  are "structures"
    [
      "TITLE: 2 waiting, 2.0 wakes/s";
      " WAITING   LONGEST   WAKES/S      WAIT      HOLD  OPERATION";
      ">      1     1.0 s       0.0         -         -  Mailbox.take \
       \"letters\"";
      "       1  501.0 ms       0.0         -         -  Mvar.take at a.ml:1";
      "       0         -       2.0  350.0 ms  400.0 ms  Mutex.lock \"lock\"";
      "";
      "";
      "";
      "";
      "";
      "";
      " q quit  s structures  t tasks  Enter details  Esc back  sort: w l r m h";
    ]
    (lines (at_1_s story))

let tasks () =
  let shown = at_1_s story in
  are "tasks"
    [
      "TITLE: 2 waiting, 2.0 wakes/s";
      " STATE       FOR RESUMED/S    WOKE/S  WAITED  TASK";
      ">waits     1.0 s       0.0       0.0    100%  fifo, task 4 on domain 0 \
       in Mailbox.take \"letters\"";
      " runs   701.0 ms       0.0       1.0      0%  fifo, task 1 on domain 0";
      " runs   701.0 ms       1.0       1.0     20%  fifo, task 2 on domain 0";
      " waits  501.0 ms       0.0       0.0     50%  fifo, task 5 on domain 0 \
       in Mvar.take at a.ml:1";
      " runs   301.0 ms       1.0       0.0     50%  fifo, task 3 on domain 0";
      "";
      "";
      "";
      "";
      " q quit  s structures  t tasks  Enter details  Esc back  sort: l r o m";
    ]
    (lines ~view:(press [ Character 't' ] shown) shown)

let first_rows view shown =
  lines ~view shown
  |> List.filteri (fun i _ -> i >= 2 && i < 5)
  |> trimmed
  |> List.map (fun line -> List.hd (List.rev (String.split_on_char ' ' line)))

let order () =
  let shown = at_1_s story in
  let by key expected =
    Alcotest.(check string)
      (String.make 1 key) expected
      (List.hd (first_rows (press [ Character key ] shown) shown))
  in
  by 'w' "\"letters\"";
  by 'l' "\"letters\"";
  by 'r' "\"lock\"";
  by 'm' "\"lock\"";
  by 'h' "\"lock\""

let details () =
  let shown = at_1_s (story @ [ suspends 900 3 2 ]) in
  let at_lock = [ Top_view.Character 'r'; Enter ] in
  are "a structure"
    [
      "TITLE: 3 waiting, 2.0 wakes/s";
      " WAITING   LONGEST   WAKES/S      WAIT      HOLD  OPERATION";
      "       1  101.0 ms       2.0  350.0 ms  400.0 ms  Mutex.lock \"lock\"";
      " Woken by, times:";
      "         1  fifo, task 1";
      "         1  fifo, task 2";
      " STATE       FOR RESUMED/S    WOKE/S  WAITED  TASK";
      ">waits  101.0 ms       1.0       1.0     30%  fifo, task 2 on domain 0 \
       in Mutex.lock \"lock\"";
      "";
      "";
      "";
      " q quit  s structures  t tasks  Enter details  Esc back  sort: l r o m";
    ]
    (lines ~view:(press at_lock shown) shown);
  are "a task"
    [
      "TITLE: 3 waiting, 2.0 wakes/s";
      " STATE       FOR RESUMED/S    WOKE/S  WAITED  TASK";
      " waits  101.0 ms       1.0       1.0     30%  fifo, task 2 on domain 0 \
       in Mutex.lock \"lock\"";
      " Has waited, times:";
      "         2  Mutex.lock \"lock\"";
      "";
      "";
      "";
      "";
      "";
      "";
      " q quit  s structures  t tasks  Enter details  Esc back  sort: l r o m";
    ]
    (lines ~view:(press (at_lock @ [ Enter ]) shown) shown);
  are "back"
    (trimmed (lines ~view:(press [ Character 'r' ] shown) shown))
    (lines ~view:(press (at_lock @ [ Enter; Back; Back; Back ]) shown) shown)

let keys () =
  let quits key = Top_view.press Top_view.start (snd (at_1_s [])) key = None in
  Check.yes "q" (quits (Character 'q'));
  Check.yes "Ctrl-C" (quits (Character '\003'));
  Check.no "x" (quits (Character 'x'));
  Check.yes "what a terminal sends"
    (Top_view.keys "\027[A\027OB\r\027q\127\027[5x"
    = [ Up; Down; Enter; Back; Character 'q'; Back; Character 'x' ]);
  let shown = at_1_s story in
  let selected keys =
    let is_selected line = line <> "" && line.[0] = '>' in
    match
      List.find_index is_selected (lines ~view:(press keys shown) shown)
    with
    | Some line -> line - 2
    | None -> -1
  in
  Check.int "down" 1 (selected [ Down ]);
  Check.int "not too far" 2 (selected [ Down; Down; Down; Down ]);
  Check.int "and up" 1 (selected [ Down; Down; Down; Down; Up ])

let sizes () =
  let many =
    List.init 200 (fun i ->
        suspends 1 ~operation:(String.make 50 'x')
          ~structure:(Printf.sprintf "structure %03d" i)
          i (i + 1))
  in
  let shown = at_1_s many in
  List.iter
    (fun (rows, columns) ->
      List.iter
        (fun keys ->
          let lines = lines ~view:(press keys shown) ~rows ~columns shown in
          Check.int "rows" rows (List.length lines);
          Check.yes "columns"
            (List.for_all (fun line -> String.length line <= columns) lines);
          Check.yes "selected"
            (List.exists (fun line -> line <> "" && line.[0] = '>') lines))
        [
          [];
          List.init 150 (fun _ -> Top_view.Down);
          [ Character 't' ];
          [ Enter ];
        ])
    [ (24, 80); (10, 40); (60, 200) ]

(* The domains' rings are read one after the other. *)
let any_order () =
  let expected = lines (at_1_s story) in
  let rec inserted x = function
    | [] -> [ [ x ] ]
    | y :: rest as all -> (x :: all) :: List.map (List.cons y) (inserted x rest)
  in
  let rec orders = function
    | [] -> [ [] ]
    | x :: rest -> List.concat_map (inserted x) (orders rest)
  in
  let wait_1, others =
    List.partition
      (fun { Recorder.event; _ } ->
        match event with
        | Told
            ( Suspended { wait = 1; _ }
            | Woken { wait = 1; _ }
            | Resumed { wait = 1; _ } ) ->
            true
        | _ -> false)
      story
  in
  List.iter
    (fun first ->
      are "in any order" (trimmed expected) (lines (at_1_s (first @ others))))
    (orders wait_1)

let lost () =
  let lost =
    {
      Recorder.pid = 1;
      time_ns = ms 600;
      event = Lost { domain = 0; since_ns = 0; bytes = 8 };
    }
  in
  let shown = at_1_s (story @ [ lost ]) in
  Alcotest.(check string)
    "it says so"
    "TITLE: 2 waiting, 2.0 wakes/s (events were lost, so 2 waits may have \
     ended)"
    (List.hd (lines shown))

(* 5,000 requests a second, and each is a task that waits once and is forgotten soon. Each wakes the next one,
   and one of them waits in each structure. *)
let requests () =
  let model = Top_model.create () in
  let per_second = 5_000 and seconds = 6 in
  for i = 1 to seconds * per_second do
    let at = i * 1_000 / per_second in
    List.iter (Top_model.add model)
      [
        suspends at i i;
        wakes at i (i + 1);
        resumes at i i;
        suspends at ~structure:(Printf.sprintf "part %d" (i mod 5_000)) (-i) 0;
        wakes at (-i) 1;
        resumes at (-i) 0;
      ];
    if i mod per_second = 0 then
      ignore (Top_model.snapshot model ~now_ns:(ms at) : Top_model.snapshot)
  done;
  let snapshot = Top_model.snapshot model ~now_ns:(ms (seconds * 1_000)) in
  let number = List.length snapshot.tasks in
  Check.yes (Printf.sprintf "%d tasks" number) (number <= 20_000);
  Check.int "structures" 5_001 (List.length snapshot.places);
  let lock =
    { Top_model.operation = "Mutex.lock"; structure = "lock"; line = "" }
  in
  let sum counts = List.fold_left (fun n (_, m) -> n + m) 0 counts in
  let wakers = Top_model.wakers model lock in
  Check.int "1,000 wakers, and the others" 1_001 (List.length wakers);
  Check.int "none is lost" (seconds * per_second) (sum wakers);
  let places = Top_model.waits_of model { pid = 1; id = 0 } in
  Check.int "1,000 places, and the others" 1_001 (List.length places);
  Check.int "none is lost" (seconds * per_second) (sum places);
  let words = Check.words model in
  Check.yes (Printf.sprintf "%d words" words) (words < 3_000_000)

(* What isn't shown isn't made a text. *)
let many_tasks () =
  let n = 20_000 in
  let items =
    List.init n (fun i ->
        suspends 1 ~structure:(Printf.sprintf "structure %d" (i mod 2_000)) i i)
  in
  let ((_, snapshot) as shown) = at_1_s items in
  Check.int "all" n (List.length snapshot.tasks);
  let view = press [ Character 't' ] shown in
  let allocated f =
    let before = Gc.allocated_bytes () in
    f ();
    (Gc.allocated_bytes () -. before) /. float n
  in
  let bytes =
    allocated (fun () -> ignore (lines ~view ~rows:50 shown : string list))
  in
  Check.yes (Printf.sprintf "%.0f bytes for each task" bytes) (bytes < 600.)

let () =
  let test = Check.test in
  Check.run "top: view"
    [
      ( "columns",
        [
          test "structures" structures;
          test "tasks" tasks;
          test "order" order;
          test "details" details;
          test "any order of events" any_order;
          test "lost events" lost;
        ] );
      ( "much",
        [
          test "a task for each request" requests; test "many tasks" many_tasks;
        ] );
      ("keys", [ test "keys" keys; test "sizes" sizes ]);
    ]
