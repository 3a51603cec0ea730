(* Reports show which tasks wait, the state of each structure, and which tasks run. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Reported

let dumps () =
  let box = Debug.named "dumped" (Mvar.create_empty ()) in
  start (fun () -> Mvar.take box);
  ignore (until_there "dumped" 1 : Debug.report);
  let text = printed (fun () -> Debug.dump stdout) in
  yes text (contains text "in Mvar.take of \"dumped\"");
  is_over "dumped" box;
  (* The task is ready for a moment before it continues. *)
  eventually "it is no longer there" (fun () ->
      not (contains (printed (fun () -> Debug.dump stdout)) "dumped"))

let last_name_counts () =
  let box = Debug.named "first" (Mvar.create_empty ()) in
  Debug.name box "second";
  start (fun () -> Mvar.take box);
  ignore (until_there "second" 1 : Debug.report);
  is_over "second" box

let no_structure () =
  raises "an integer" (Invalid_argument "Debug.name: the value is no structure")
    (fun () -> Debug.name 3 "three")

(* Frames of libraries are left out wherever they are, not only at the innermost end. *)
let frames () =
  let box = Debug.named "frames" (Mvar.create_empty ()) in
  let[@inline never] waits () =
    Fun.protect ~finally:ignore (fun () ->
        Mvar.take box;
        ignore (Sys.opaque_identity 0 : int))
  in
  start (fun () ->
      Concord_fifo.run (fun () ->
          waits ();
          ignore (Sys.opaque_identity 0 : int)));
  let report = until_there "frames" 1 in
  let text = Debug.to_string { report with waits = all_in "frames" report } in
  yes "the function" (contains text "Test_debug_states.frames");
  List.iter
    (fun other -> no other (contains text other))
    [ "Concord__"; "Stdlib__Fun"; "Thread."; "fifo.ml"; "fun.ml" ];
  is_over "frames" box

(* Eight tasks wait in the same choice of three. They form one group, with the alternatives
   in the order of the source. *)
let select () =
  let a = Debug.named "first" (Mvar.create_empty ())
  and b = Debug.named "second" (Mvar.create_empty ())
  and c = Debug.named "third" (Mvar.create_empty ()) in
  let ends =
    List.init 8 (fun _ ->
        thread (fun () ->
            Event.select [ Mvar.take_evt a; Mvar.take_evt b; Mvar.take_evt c ]))
  in
  let report = until_there "first" 8 in
  let text = Debug.to_string { report with waits = all_in "first" report } in
  let operations (wait : Debug.wait) =
    List.map (fun (t : Debug.target) -> Option.get t.structure) wait.targets
  in
  List.iter
    (fun wait ->
      strings "in order" [ "first"; "second"; "third" ] (operations wait))
    (all_in "first" report);
  yes text (contains text "8 threads wait for");
  List.iter (fun _ -> Mvar.put b ()) ends;
  List.iter (fun join -> join ()) ends

(* The task that forces the value first is cancelled. A second task forces it again, and a
   third one waits for the second. *)
let failed_before () =
  let name = "forced again" and box = Mvar.create_empty () in
  let value =
    Debug.named name (Lazy.from_fun (fun () -> (Mvar.take box : int)))
  in
  let force () = ignore (Lazy.force value : int) in
  let states () =
    List.concat_map
      (fun (wait : Debug.wait) ->
        List.map (fun t -> t.Debug.state) wait.targets)
      (all_in name (Debug.report ()))
  in
  Concord_fifo.run @@ fun () ->
  Scope.run @@ fun scope ->
  Scope.run (fun first ->
      Scope.fork first force;
      Tasks.yield ();
      Scope.fork scope force;
      Tasks.yield ();
      strings "a first attempt" [ "" ] (states ());
      Scope.cancel first);
  Scope.fork scope force;
  Tasks.yield ();
  strings "a further attempt"
    [ "failed before: Concord_fifo.Cancelled" ]
    (states ());
  Mvar.put box 1

(* Each structure describes its state. The time that is left until the timeout varies, so it
   isn't compared. *)
let states () =
  let latch = Debug.named "a latch" (Latch.create 3)
  and permits = Debug.named "permits" (Semaphore.Counting.make 0)
  and stream = Debug.named "a stream" (Stream.create 2)
  and items = Debug.named "no items" (Stream.create 5)
  and never = Debug.named "never" (Promise.create ()) in
  List.iter (Stream.add stream) [ 1; 2 ];
  Latch.count_down latch;
  let ends =
    List.map thread
      [
        (fun () -> Latch.await latch);
        (fun () -> Semaphore.Counting.acquire permits);
        (fun () -> Stream.add stream 3);
        (fun () -> Stream.take items);
        (fun () ->
          Event.select [ Promise.await_evt never; Event.timeout 1000. ]);
      ]
  in
  let state name =
    match all_in name (until_there name 1) with
    | [ wait ] -> List.map (fun (t : Debug.target) -> t.state) wait.targets
    | _ -> Alcotest.fail name
  in
  strings "latch" [ "2 to count down" ] (state "a latch");
  strings "semaphore" [ "0 permits left" ] (state "permits");
  strings "full" [ "2 of 2 items" ] (state "a stream");
  strings "empty" [ "0 of 5 items" ] (state "no items");
  (match state "never" with
  | [ ""; left ] ->
      yes left
        (String.ends_with ~suffix:" s left" left
        && float_of_string (List.hd (String.split_on_char ' ' left)) > 900.)
  | states -> Alcotest.fail (String.concat "," states));
  Latch.count_down latch;
  Latch.count_down latch;
  Semaphore.Counting.release permits;
  ignore (Stream.take stream : int);
  Stream.add items ();
  Promise.fill never ();
  List.iter (fun join -> join ()) ends

(* Two schedulers run, and each has a task 1. *)
let two_schedulers () =
  let box = Debug.named "two" (Mvar.create_empty ()) in
  let one () =
    Concord_fifo.run (fun () ->
        Concord_fifo.join (Concord_fifo.fork (fun () -> Mvar.take box)))
  in
  let ends = [ thread one; thread one ] in
  let report = until_there "two" 2 in
  let again = Debug.report () in
  let ids report =
    List.map (fun (wait : Debug.wait) -> wait.task.id) (all_in "two" report)
  in
  int "two numbers" 2 (List.length (List.sort_uniq compare (ids report)));
  Alcotest.(check (list int)) "the same again" (ids report) (ids again);
  let text = Debug.to_string report in
  List.iter
    (fun id ->
      yes text (contains text (Printf.sprintf "fifo, task 1 (id %d)" id)))
    (ids report);
  List.iter (fun _ -> Mvar.put box ()) ends;
  List.iter (fun join -> join ()) ends

let named_task () =
  let box = Debug.named "of a named task" (Mvar.create_empty ()) in
  let ended =
    thread (fun () ->
        Concord_fifo.run (fun () ->
            Debug.name_task "writer";
            Debug.name_task "reader";
            Mvar.take box))
  in
  (match all_in "of a named task" (until_there "of a named task" 1) with
  | [ { task; _ } ] ->
      Alcotest.(check string) "the last name" "task 0 \"reader\"" task.name
  | _ -> assert false (* there is exactly one *));
  Mvar.put box ();
  ended ()

(* A resumed task that blocks its loop. *)
let running () =
  let box = Mvar.create_empty () and blocks = Stdlib.Mutex.create () in
  let runs name (report : Debug.report) =
    List.exists
      (fun (running : Debug.running) ->
        List.exists
          (fun frame -> contains frame name)
          (frames_of running.waited_at))
      report.running
  in
  Stdlib.Mutex.lock blocks;
  let[@inline never] culprit () =
    Mvar.take box;
    Stdlib.Mutex.lock blocks;
    Stdlib.Mutex.unlock blocks
  in
  let loop = thread (fun () -> Concord_fifo.run culprit) in
  eventually "it waits" (fun () -> Mvar.waiters box = 1);
  no "it waits" (runs "culprit" (Debug.report ()));
  Mvar.put box ();
  eventually "it runs" (fun () -> runs "culprit" (Debug.report ()));
  Stdlib.Mutex.unlock blocks;
  loop ()

let () =
  run "Debug: which tasks wait, and how"
    [
      ( "a report",
        [
          test "dump" dumps;
          test "the last name counts" last_name_counts;
          test "no structure" no_structure;
          test "frames" frames;
          test "a choice" select;
          test "states" states;
          test "a value that failed before" failed_before;
          test "two schedulers" two_schedulers;
          test "running tasks" running;
          test "a task's name" named_task;
        ] );
    ]
