(* Reports of tasks that wait. Threads of cycles are left behind: the program ends with
   them. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let () = Debug.keep_waits ()
let named_so name (p : Debug.target) = p.structure = Some name
let waits_in name (wait : Debug.wait) = List.exists (named_so name) wait.targets

let all_in name (report : Debug.report) =
  List.filter (waits_in name) report.waits

let behind_in name (report : Debug.report) =
  List.filter (waits_in name) report.behind

let cycles_in name (report : Debug.report) =
  List.filter (List.exists (waits_in name)) report.cycles

(* The report in which so many wait there. *)
let until_there name n =
  let found = ref (Debug.report ()) in
  eventually (Printf.sprintf "%d wait in %s" n name) (fun () ->
      found := Debug.report ();
      List.length (all_in name !found) = n);
  !found

let start f = ignore (Thread.create f () : Thread.t)

(* [n] threads; each has one lock, and then waits as [wait] says, given the next one. *)
let ring name n wait =
  let locks = Array.init n (fun _ -> Debug.named name (Mutex.create ())) in
  let meet = Barrier.create n in
  for i = 0 to n - 1 do
    start (fun () ->
        Mutex.lock locks.(i);
        Barrier.await meet;
        wait i locks.((i + 1) mod n))
  done;
  locks

let is_held_by (next : Debug.wait) (wait : Debug.wait) =
  List.exists
    (fun (p : Debug.target) ->
      List.exists (fun (h : Debug.holder) -> h.by = next.task) p.holders)
    wait.targets

let is_cycle = function
  | [] -> false
  | first :: _ as waits ->
      let rec follows = function
        | [] -> true
        | [ last ] -> is_held_by first last
        | a :: (b :: _ as rest) -> is_held_by b a && follows rest
      in
      follows waits

let cycle n () =
  let name = Printf.sprintf "cycle of %d" n in
  ignore (ring name n (fun _ next -> Mutex.lock next) : Mutex.t array);
  let report = until_there name n in
  match cycles_in name report with
  | [ cycle ] ->
      int "all of them" n (List.length cycle);
      yes "each waits for the next" (is_cycle cycle);
      int "none is behind" 0 (List.length (behind_in name report))
  | cycles -> Alcotest.failf "%d cycles" (List.length cycles)

(* One waits for those of the cycle, and one for that one. *)
let behind () =
  let name = "cycle with a tail" in
  let locks = ring name 2 (fun _ next -> Mutex.lock next) in
  ignore (until_there name 2 : Debug.report);
  let last = Debug.named name (Mutex.create ()) in
  start (fun () ->
      Mutex.lock last;
      Mutex.lock locks.(0));
  eventually "the last is locked" (fun () -> Mutex.is_locked last);
  start (fun () -> Mutex.lock last);
  let report = until_there name 4 in
  int "one cycle" 1 (List.length (cycles_in name report));
  int "of two" 2 (List.length (List.concat (cycles_in name report)));
  int "two are behind" 2 (List.length (behind_in name report))

(* One alternative that is not held is enough. *)
let not_if name other () =
  let wait i next =
    if i = 0 then ignore (Event.select [ Mutex.lock_evt next; other () ])
    else Mutex.lock next
  in
  ignore (ring name 2 wait : Mutex.t array);
  let report = until_there name 2 in
  int "no cycle" 0 (List.length (cycles_in name report));
  int "none behind" 0 (List.length (behind_in name report))

let if_all_are_held () =
  let name = "choice of two" in
  let mine = Debug.named name (Mutex.create ()) in
  let wait i next =
    if i = 0 then begin
      eventually "the other one is locked" (fun () -> Mutex.is_locked mine);
      ignore (Event.select [ Mutex.lock_evt next; Mutex.lock_evt mine ])
    end
    else begin
      Mutex.lock mine;
      Mutex.lock next
    end
  in
  ignore (ring name 2 wait : Mutex.t array);
  let report = until_there name 2 in
  match cycles_in name report with
  | [ ([ a; b ] as cycle) ] ->
      yes "each waits for the next" (is_cycle cycle);
      strings "alternatives" [ "1"; "2" ]
        (List.sort compare
           (List.map
              (fun (w : Debug.wait) -> string_of_int (List.length w.targets))
              [ a; b ]))
  | _ -> Alcotest.fail (Debug.to_string report)

(* --- While others come and go ------------------------------------------------------ *)

let is_over name box =
  Mvar.put box ();
  ignore (until_there name 0 : Debug.report);
  eventually "it has gone on" (fun () ->
      not (List.exists (waits_in name) (Debug.report ()).woken))

(* Those that were there before and after are in each report; those that lock in the
   same order are in no cycle. *)
let storm () =
  let box = Debug.named "the box" (Mvar.create_empty ()) in
  start (fun () -> Mvar.take box);
  let there = all_in "the box" (until_there "the box" 1) in
  let a = Debug.named "storm" (Mutex.create ())
  and b = Debug.named "storm" (Mutex.create ()) in
  let stop = Atomic.make false in
  let locks () =
    while not (Atomic.get stop) do
      Mutex.protect a (fun () -> Mutex.protect b Thread.yield);
      Mutex.protect b Thread.yield
    done
  in
  let full = Mvar.create_empty () in
  let puts () =
    while not (Atomic.get stop) do
      Mvar.put full ()
    done
  and takes () =
    while not (Atomic.get stop && Mvar.is_empty full) do
      ignore (Mvar.take_available full : unit option);
      if not (Atomic.get stop) then
        ignore (Event.sync_before 0.001 (Mvar.take_evt full) : unit option)
    done
  in
  let others =
    [ thread locks; thread locks; domain locks; thread puts; domain takes ]
  in
  let numbers = List.map (fun (w : Debug.wait) -> w.number) in
  let enough = Concord__Waits.begun () + 2_000 in
  let dumps = ref 0 in
  while !dumps < 200 || Concord__Waits.begun () < enough do
    incr dumps;
    let report = Debug.report () in
    if numbers (all_in "the box" report) <> numbers there then
      Alcotest.fail "the one that waits all the while is not there";
    if not (List.is_empty (cycles_in "storm" report)) then
      Alcotest.failf "a cycle:\n%s" (Debug.to_string report);
    ignore (Debug.to_string report : string);
    ignore (Debug.to_json report : string)
  done;
  Atomic.set stop true;
  List.iter (fun join -> join ()) others;
  ignore (until_there "storm" 0 : Debug.report);
  is_over "the box" box

(* Between two looks one of them goes on, and takes what the other one waits for: at no
   moment did each wait for the other. *)
let not_at_once () =
  let name = "not at once" in
  let x = Debug.named name (Mvar.create_empty ())
  and y = Debug.named name (Mvar.create_empty ()) in
  let takes box =
    let who = Promise.create () in
    start (fun () ->
        Promise.fill who (Concord__Waits.held (Concord__Who.of_thread ()));
        Mvar.take box);
    let who = Promise.await who in
    eventually "it waits" (fun () -> Mvar.waiters box = 1);
    who
  in
  let first = takes x in
  ignore (until_there name 1 : Debug.report);
  let second = takes y in
  ignore (until_there name 2 : Debug.report);
  let was_looked_at = ref false in
  Concord__Labels.add x ~holders:(fun () ->
      was_looked_at := true;
      [ second ]);
  Concord__Labels.add y ~holders:(fun () ->
      yes "the other one was looked at before" !was_looked_at;
      if Mvar.waiters x = 1 then Mvar.put x ();
      let is_first (wait : Concord__Waits.t) =
        Concord__Who.same wait.who first.by
      in
      eventually "the first goes on" (fun () ->
          not (List.exists is_first (Concord__Waits.all ())));
      [ first ]);
  int "no cycle" 0 (List.length (cycles_in name (Debug.report ())));
  Mvar.put y ()

(* The report is taken by the resumer of the task that is given the structure: the state
   names it already, and it still waits. [use t f] holds [t] while [f] runs. *)
let handed_over name make ~use ~wait () =
  let t = Debug.named name (make ()) in
  let is_held = Promise.create () and leave = Promise.create () in
  let held () =
    Promise.fill is_held ();
    Promise.await leave
  in
  let holder = thread (fun () -> use t held) in
  Promise.await is_held;
  let report = ref None and ended = ref false and continue = ref ignore in
  let suspend block k =
    let resumer outcome =
      report := Some (Debug.report ());
      (continue := fun () -> Handled.go_on k outcome);
      true
    in
    Option.iter (Effect.Deep.continue k) (block resumer)
  in
  let who = Concord__Who.make_strong ~host:"by hand" ~name:"the waiter" ended in
  let task () = Concord__Who.answering (fun () -> who) (fun () -> wait t) in
  Handled.run { suspend } ~ret:(fun () -> ended := true) task;
  no "it waits" !ended;
  Promise.fill leave ();
  holder ();
  !continue ();
  yes "it continues" !ended;
  let report = Option.get !report in
  int "it still waits" 1 (List.length (all_in name report));
  if not (List.is_empty (cycles_in name report)) then
    Alcotest.failf "a cycle:\n%s" (Debug.to_string report)

let same f () = (f (), ())

let handed_over =
  let case name make ~use ~wait =
    test name (handed_over ("handed over: " ^ name) make ~use ~wait)
  in
  let mutex name wait =
    case name Mutex.create ~use:Mutex.protect ~wait:(fun m ->
        wait m;
        Mutex.unlock m)
  and rwlock name wait =
    case name (fun () -> Rwlock.create ()) ~use:Rwlock.write ~wait
  and box name wait =
    case name
      (fun () -> Mvar.create ())
      ~use:(fun b f -> Mvar.modify b (same f))
      ~wait
  in
  (* The task that computes it first is cancelled. *)
  let make_lazy () =
    let is_first = ref true in
    Lazy.from_fun (fun () ->
        if !is_first then begin
          is_first := false;
          Promise.await (Promise.create ())
        end)
  and forced l held =
    Concord_fifo.run (fun () ->
        let task = Concord_fifo.fork (fun () -> Lazy.force l) in
        Concord_fifo.yield ();
        held ();
        Concord_fifo.cancel task)
  in
  [
    case "Lazy.force" make_lazy ~use:forced ~wait:Lazy.force;
    mutex "Mutex.lock" Mutex.lock;
    mutex "Mutex.lock_evt" (fun m -> Event.sync (Mutex.lock_evt m));
    rwlock "Rwlock.read" (fun l -> Rwlock.read l ignore);
    rwlock "Rwlock.write" (fun l -> Rwlock.write l ignore);
    rwlock "Rwlock.write_lock_evt" (fun l ->
        Event.sync (Rwlock.write_lock_evt l);
        Rwlock.write_unlock l);
    box "Mvar.modify" (fun b -> Mvar.modify b (fun () -> ((), ())));
    box "Mvar.modify_evt" (fun b ->
        Event.sync (Mvar.modify_evt b (fun () -> ((), ()))));
  ]

(* --- The rest ---------------------------------------------------------------------- *)

let dumps () =
  let box = Debug.named "dumped" (Mvar.create_empty ()) in
  start (fun () -> Mvar.take box);
  ignore (until_there "dumped" 1 : Debug.report);
  let text = printed (fun () -> Debug.dump stdout) in
  yes text (contains text "in Mvar.take of \"dumped\"");
  is_over "dumped" box;
  (* it is ready before it goes on *)
  eventually "it is not there any more" (fun () ->
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

(* Not only of the innermost frames. *)
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
  yes "the function" (contains text "Test_debug_waits.frames");
  List.iter
    (fun other -> no other (contains text other))
    [ "Concord__"; "Stdlib__Fun"; "Thread."; "fifo.ml"; "fun.ml" ];
  is_over "frames" box

(* Eight tasks at one choice of three: one group, with the alternatives as in the source. *)
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

(* The task that forces a value first is cancelled, the next one forces it again, and one more
   waits for that one. *)
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

(* What structures say of themselves. The timeout has some time left, whatever it is. *)
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

(* Of two schedulers, each of which has a task 1. *)
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

let frames_of backtrace =
  String.split_on_char '\n' (Printexc.raw_backtrace_to_string backtrace)

(* --- Who forked whom ---------------------------------------------------------------- *)

let origin_of name =
  match all_in name (until_there name 1) with
  | [ { origin = Some origin; task; _ } ] -> (origin, task)
  | _ -> Alcotest.failf "%s: no origin" name

(* A task forks one that forks one that waits: [forks] is the scheduler's own way. *)
let forked kind run forks () =
  let name = "forked by " ^ kind in
  let box = Debug.named name (Mvar.create_empty ())
  and parents = Debug.named (name ^ ", parent") (Mvar.create_empty ()) in
  let ended =
    thread (fun () ->
        run (fun () ->
            let[@inline never] forks_twice () =
              forks (fun () ->
                  forks (fun () -> Mvar.take box);
                  Mvar.take parents);
              ignore (Sys.opaque_identity 0 : int)
            in
            forks_twice ()))
  in
  let of_child, _ = origin_of name in
  let of_parent, parent = origin_of (name ^ ", parent") in
  int "the child's parent" parent.id of_child.parent.id;
  yes "which is another task" (of_parent.parent.id <> parent.id);
  yes "where"
    (List.exists
       (fun frame -> contains frame "forks_twice")
       (frames_of of_parent.forked_at));
  Mvar.put box ();
  Mvar.put parents ();
  ended ()

let[@inline never] starts_here start box =
  let ended = start (fun () -> Mvar.take box) in
  Sys.opaque_identity ended

let started kind start () =
  let name = "started as a " ^ kind in
  let box = Debug.named name (Mvar.create_empty ()) in
  let ended = starts_here start box in
  let origin, task = origin_of name in
  yes "by another one" (origin.parent.id <> task.id);
  yes "where"
    (List.exists
       (fun frame -> contains frame "starts_here")
       (frames_of origin.forked_at));
  Mvar.put box ();
  Promise.await ended

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
  | _ -> assert false (* it is one *));
  Mvar.put box ();
  ended ()

(* A task that was resumed, and blocks its loop. *)
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
  run "Debug: who waits"
    [
      ( "cycles",
        [
          test "of two" (cycle 2);
          test "of three" (cycle 3);
          test "of twenty" (cycle 20);
          test "behind" behind;
          test "not with a timeout"
            (not_if "with a timeout" (fun () -> Event.timeout 1e6));
          test "not with a box"
            (not_if "with a box" (fun () ->
                 Mvar.take_evt (Mvar.create_empty ())));
          test "if all alternatives are held" if_all_are_held;
        ] );
      ( "storm",
        [
          test "all are there, no cycle is made up" storm;
          test "not at once" not_at_once;
        ] );
      ("no cycle while handed over", handed_over);
      ( "forked",
        [
          test "by Fifo"
            (forked "Fifo" Concord_fifo.run (fun f ->
                 ignore (Concord_fifo.fork f : Concord_fifo.handle)));
          test "in a scope"
            (let scope = ref None in
             forked "a scope"
               (fun f ->
                 Concord_fifo.run (fun () ->
                     Scope.run (fun opened ->
                         scope := Some opened;
                         f ())))
               (fun f -> Scope.fork (Option.get !scope) f));
          test "as a thread" (started "thread" Promise.in_thread);
          test "as a domain" (started "domain" Promise.in_domain);
        ] );
      ( "the rest",
        [
          test "dump" dumps;
          test "the last name counts" last_name_counts;
          test "no structure" no_structure;
          test "frames" frames;
          test "a choice" select;
          test "states" states;
          test "what failed before" failed_before;
          test "two schedulers" two_schedulers;
          test "who runs" running;
          test "a task's name" named_task;
        ] );
    ]
