(* Reports that a hanging program makes on a signal or by itself. *)

open Concord_test_support
open Check

let hung_with debug = Child.during ~debug "hung.exe"
let asked = Child.during "asked.exe"

let count part text =
  List.length (Str.split_delim (Str.regexp_string part) text) - 1

(* --- On a signal ------------------------------------------------------------- *)

(* A thread of ThreadSanitizer always exists, so a program is never alone. *)
let unless_instrumented test = if instrumented then [] else [ test ]

let whole child =
  List.iter (Child.reports child)
    [
      "concord: 2 tasks wait\n";
      "Cycle of 2 tasks, each of which waits for a structure that the next holds\n";
      "(Hung.locks_both)";
    ]

let sigquit () =
  hung_with "sigquit" "deadlock" (fun child ->
      Child.says child "ready";
      Child.signal child Sys.sigquit;
      whole child)

(* Each further signal makes another report, and the program continues. *)
let sigquit_again () =
  hung_with "sigquit" "stalls" (fun child ->
      Child.says child "ready";
      for _ = 1 to 3 do
        let before = count "concord:" (Child.so_far child) in
        Child.signal child Sys.sigquit;
        eventually "a report" (fun () ->
            count "concord:" (Child.so_far child) > before);
        Child.tell child ""
      done;
      Child.says child "ended";
      Child.ends child)

(* The whole report is in the file, and nothing is printed. *)
let json () =
  let file = Filename.temp_file "report" ".json" in
  Sys.remove file;
  hung_with ("sigquit=json:" ^ file) "deadlock" (fun child ->
      Child.says child "ready";
      Child.signal child Sys.sigquit;
      eventually "the file" (fun () -> Sys.file_exists file);
      let text = In_channel.with_open_bin file In_channel.input_all in
      yes "the cycle" (String.starts_with ~prefix:"{\"cycles\":[[" text);
      yes "a wait" (contains text "\"operation\":\"Mutex.lock\"");
      yes "all of it" (String.ends_with ~suffix:"]}" text);
      no "no part is left" (Sys.file_exists (file ^ ".part"));
      strings "stderr" [ "" ] [ Child.so_far child ];
      Sys.remove file)

(* A file that can't be written is told. *)
let json_nowhere () =
  hung_with "sigquit=json:/nowhere/report" "deadlock" (fun child ->
      Child.says child "ready";
      Child.signal child Sys.sigquit;
      Child.reports child "concord: the report failed: ";
      Child.reports child "/nowhere/report")

let lost_after_traffic () =
  hung_with "leaks" "lost after traffic" (fun child ->
      Child.says child "few collections\n";
      Child.says child "the task got the exception\n";
      Child.reports child "concord: nothing can resume this task any longer")

let while_computing () =
  hung_with "sigquit" "computing" (fun child ->
      Child.says child "ready";
      Child.signal child Sys.sigquit;
      whole child)

let asked_for () =
  asked "frozen" (fun child ->
      Child.says child "ready";
      Child.signal child Sys.sigusr1;
      Child.reports child "3 threads have waited for ";
      Child.reports child "in Mvar.take of \"the box\"\n")

let once_for_each () =
  asked "twice" (fun child ->
      Child.says child "one thread";
      Child.says child "ready";
      Child.signal child Sys.sigusr1;
      Child.reports child "3 threads have waited for ")

let too_late () =
  asked "too late" (fun child ->
      Child.says child
        "another thread does not block the signal, so call this before you \
         start threads\n\
         not blocked\n";
      Child.says child "taken now\n";
      Child.ends child)

let wrong () =
  asked "wrong" (fun child ->
      Child.says child
        (String.concat ""
           (List.map
              (Printf.sprintf
                 "Debug.dump_on_signal: %s is not a signal that can be blocked\n")
              [
                "signal 0";
                "signal 1000";
                "signal -1000";
                Printf.sprintf "SIGKILL (%d)" Sys.sigkill;
                Printf.sprintf "SIGSTOP (%d)" Sys.sigstop;
              ]));
      Child.ends child)

(* --- A stall ----------------------------------------------------------------- *)

let stall () =
  hung_with "stall=0.2" "deadlock" (fun child ->
      Child.reports child "concord: no task has continued for 0.";
      Child.reports child " may wake the waiting tasks.\n";
      whole child)

(* The limit for stalls is longer than the test, so only the cycle can be reported. *)
let busy () =
  hung_with "stall=100" "busy" (fun child ->
      Child.reports child
        "concord: tasks wait for each other in a cycle. None of them \
         continues, unless one is cancelled.\n";
      Child.reports child
        "Cycle of 2 tasks, each of which waits for a structure that the next \
         holds\n";
      no "a stall" (contains (Child.so_far child) "no task has continued"))

(* One task waits for another one. Then a further task waits for an event of the system,
   which can still wake them. *)
let idle () =
  let open Concord in
  Tools.Debug.keep_waits ();
  let system = Mvar.create_empty () and box = Mvar.create_empty () in
  let from_the_system =
    {
      Tools.Structure_kit.default with
      name = "a descriptor";
      from_outside = true;
      how =
        By_hand
          {
            attempt = (fun _ () -> Mvar.try_take system);
            enlist =
              (fun _ waiter ->
                let resume () = ignore (waiter.resumer (Ok ()) : bool) in
                Mvar.put box resume;
                true);
            withdraw = (fun _ _ -> ());
          };
    }
  in
  let waits n () = List.length (Concord__diagnosis.Waits.all ()) = n in
  let give = Mvar.create_empty () in
  let one = thread (fun () -> Mvar.take give) in
  eventually "one waits" (waits 1);
  no "for another task: stalled" (Concord__diagnosis.Debug_stall.is_idle ());
  let other =
    thread (fun () -> Tools.Structure_kit.wait from_the_system () ())
  in
  eventually "both wait" (waits 2);
  yes "for the system: idle" (Concord__diagnosis.Debug_stall.is_idle ());
  (Mvar.take box) ();
  other ();
  no "no more" (Concord__diagnosis.Debug_stall.is_idle ());
  Mvar.put give ();
  one ()

let nothing_can_wake () =
  hung_with "stall=0.2" "nothing left" (fun child ->
      Child.reports child "Nothing can wake the waiting tasks,";
      Child.reports child "concord: 3 tasks wait\n")

let woken () =
  hung_with "stall=0.2" "woken" (fun child ->
      Child.says child "ready";
      List.iter (Child.reports child)
        [
          "concord: no task has continued for 0.";
          "concord: 0 tasks wait\n";
          "Woken, but not continued by their schedulers yet: 1 task\n";
          "fifo, task 1 was woken ";
          "in Mvar.take of \"box\"\n";
        ])

let each_stall_once () =
  hung_with "stall=0.1" "stalls" (fun child ->
      for stalls = 1 to 3 do
        eventually "a report" (fun () ->
            count "no task has continued" (Child.so_far child) = stalls);
        Child.tell child ""
      done;
      Child.says child "ended";
      Child.ends child;
      int "reports" 3 (count "no task has continued" (Child.reported child)))

(* --- Alone ------------------------------------------------------------------- *)

(* The threads that report must not count as company, so each wait that nothing can end
   raises. *)
let alone words role =
  hung_with words role (fun child ->
      List.iter (Child.says child)
        [
          "the thread got the exception\n";
          "the task got the exception\n";
          "the thread again got the exception\n";
        ];
      Child.ends child)

let alone_named ?debug made =
  Child.during ?debug "hung.exe" "alone, named" (fun child ->
      let told =
        "Concord.Tools.Suspend.Never_resumed: nothing can resume this task any \
         longer"
      in
      let named = Printf.sprintf "%s (promise \"answer\"%s" told made in
      Child.says child named;
      Child.says child (")\n" ^ named);
      Child.says child (")\n" ^ told ^ "\n");
      Child.ends child)

let not_alone () =
  hung_with "sigquit,stall=60" "forked, with company" (fun child ->
      Child.says child "the child continued\n";
      Child.ends child)

(* --- The words of CONCORD_DEBUG ----------------------------------------------- *)

let counts ?debug expected =
  Child.during ?debug "hung.exe" "counts" (fun child ->
      Child.says child (expected ^ "\n");
      Child.ends child)

let off () =
  counts "1 threads, fast path";
  counts ~debug:"" "1 threads, fast path"

let mistakes () =
  hung_with "wait, stall=x,stall=-1,leaks,sigquit =" "counts" (fun child ->
      Child.says child "3 threads, slow path";
      Child.ends child;
      let known =
        "waits, leaks, trace, sigquit, sigquit=json:FILE, sigusr2, strict, \
         metrics, stall=SECONDS, slow=SECONDS"
      in
      strings "each produces one warning"
        [
          "concord: CONCORD_DEBUG contains the unknown word \"wait\". The \
           known words are " ^ known;
          "concord: CONCORD_DEBUG contains \"stall=x\", but the seconds must \
           be a positive number, as in stall=5";
          "concord: CONCORD_DEBUG contains \"stall=-1\", but the seconds must \
           be a positive number, as in stall=5";
          "concord: CONCORD_DEBUG contains the unknown word \"sigquit =\". The \
           known words are " ^ known;
          "";
        ]
        (String.split_on_char '\n' (Child.reported child)))

let () =
  run "Debug, from outside"
    [
      ( "on a signal",
        [
          test "while all threads wait" sigquit;
          test "again and again" sigquit_again;
          test "while a thread computes" while_computing;
          test "of the program's choice" asked_for;
          test "one thread for each" once_for_each;
          test "none, or none that can be blocked" wrong;
          test "as JSON, to a file" json;
          test "to no file" json_nowhere;
        ]
        @ Concord_test_proc.only "threads that do not block a signal"
            [ test "a thread that does not block it" too_late ] );
      ( "a stall",
        [
          test "a deadlock" stall;
          test "a task that was woken but does not run" woken;
          test "once for each" each_stall_once;
          test "a cycle, while others are busy" busy;
          test "an idle server is none" idle;
        ]
        @ Concord_test_proc.only "a stall that nothing ends"
            (unless_instrumented
               (test "nothing can wake them" nothing_can_wake)) );
      ( "alone",
        [ test "not a forked child with a thread" not_alone ]
        @ Concord_test_proc.only "programs that are alone"
        @@ List.concat_map unless_instrumented
             [
               test "lost, and others sleep often" lost_after_traffic;
               test "waits" (fun () -> alone "waits" "alone");
               test "sigquit" (fun () -> alone "sigquit" "alone");
               test "stall" (fun () -> alone "stall=60" "alone");
               test "all" (fun () -> alone "waits,sigquit,stall=60" "alone");
               test "in a forked child" (fun () ->
                   alone "sigquit,stall=60" "forked");
               test "by name" (fun () -> alone_named ")");
               test "by name and target" (fun () ->
                   alone_named ~debug:"waits"
                     ", created in test/unit/diagnosis/hung.ml");
             ] );
      ( "words",
        Concord_test_proc.only "how many threads there are"
          [
            test "none" off;
            test "waits" (fun () ->
                counts ~debug:"waits" "1 threads, slow path");
          ]
        (* ThreadSanitizer's thread would count too. *)
        @ Concord_test_proc.only "how many threads there are, exactly"
        @@ List.concat_map unless_instrumented
             [
               test "spaces" (fun () ->
                   counts ~debug:" leaks ," "3 threads, slow path");
               test "mistakes" mistakes;
             ] );
    ]
