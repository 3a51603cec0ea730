(* Reports of tasks that wait for one another. The deadlocked threads are left alone and end
   with the program. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Reported

(* Starts [n] threads. Each locks its own mutex and then calls [wait] with the next one's
   mutex. *)
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

(* One more thread waits for the cycle, and another one waits for that thread. *)
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

(* A task isn't deadlocked if one of its alternatives isn't held. *)
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

(* --- Structures with several holders ------------------------------------------------ *)

(* Two threads use a pool of two, and each needs another resource. [second] is called by the
   second one. *)
let pool_of_two name second =
  let pool = Pool.create ~name 2 ignore and meet = Barrier.create 2 in
  let again () = Pool.use pool ignore in
  let hold f () =
    Pool.use pool (fun () ->
        Barrier.await meet;
        f again)
  in
  start (hold (fun again -> again ()));
  start (hold second)

let each_needs_two () =
  let name = "a pool of two" in
  pool_of_two name (fun again -> again ());
  let report = until_there name 2 in
  match cycles_in name report with
  | [ cycle ] -> yes "it is a cycle" (is_cycle cycle)
  | cycles -> Alcotest.failf "%d cycles" (List.length cycles)

(* A thread isn't deadlocked while one of the holders may give its resource back. *)
let one_may_return () =
  let name = "a pool of two, one computes" in
  let return = Promise.create () in
  pool_of_two name (fun _ -> Promise.await return);
  let report = until_there name 1 in
  int "no cycle" 0 (List.length (cycles_in name report));
  int "none behind" 0 (List.length (behind_in name report));
  int "both hold" 2
    (List.length
       (List.concat_map
          (fun (w : Debug.wait) ->
            List.concat_map (fun (t : Debug.target) -> t.holders) w.targets)
          (all_in name report)));
  Promise.fill return ();
  ignore (until_there name 0 : Debug.report)

let lease_of_two () =
  let name = "a pool of leases" in
  let pool = Pool.create ~name 2 ignore and meet = Barrier.create 2 in
  for _ = 1 to 2 do
    start (fun () ->
        let lease = Pool.obtain pool in
        Barrier.await meet;
        Pool.use pool ignore;
        Pool.give_back ~keep:true lease)
  done;
  let report = until_there name 2 in
  int "a cycle" 1 (List.length (cycles_in name report))

(* --- While other waits begin and end ----------------------------------------------- *)

(* Each report must contain the waits that lasted throughout. It must not show a cycle of
   threads that lock in the same order. *)
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
      ignore (Mvar.try_take full : unit option);
      if not (Atomic.get stop) then
        ignore (Event.sync_before 0.001 (Mvar.take_evt full) : unit option)
    done
  in
  let others =
    [ thread locks; thread locks; domain locks; thread puts; domain takes ]
  in
  let numbers = List.map (fun (w : Debug.wait) -> w.number) in
  let enough = Concord__diagnosis.Waits.begun () + 2_000 in
  let dumps = ref 0 in
  while !dumps < 200 || Concord__diagnosis.Waits.begun () < enough do
    incr dumps;
    let report = Debug.report () in
    if numbers (all_in "the box" report) <> numbers there then
      Alcotest.fail "the task that waits throughout is missing";
    if not (List.is_empty (cycles_in "storm" report)) then
      Alcotest.failf "a cycle:\n%s" (Debug.to_string report);
    ignore (Debug.to_string report : string);
    ignore (Debug.to_json report : string)
  done;
  Atomic.set stop true;
  List.iter (fun join -> join ()) others;
  ignore (until_there "storm" 0 : Debug.report);
  is_over "the box" box

(* While the report is made, between its looks at the two boxes, the first task continues
   and the state of its wait changes. The two never waited for each other at the same
   moment, so this isn't a cycle. *)
let not_at_once () =
  let name = "not at once" in
  let x = Debug.named name (Mvar.create_empty ())
  and y = Debug.named name (Mvar.create_empty ()) in
  let takes box =
    let who = Promise.create () in
    start (fun () ->
        Promise.fill who
          (Concord__core__Holder.held (Concord__core__Who_is.this_thread ()));
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
  Concord__diagnosis.Labels.add x ~holders:(fun () ->
      was_looked_at := true;
      [ second ]);
  Concord__diagnosis.Labels.add y ~holders:(fun () ->
      yes "the other one was read before" !was_looked_at;
      if Mvar.waiters x = 1 then Mvar.put x ();
      let is_first (wait : Concord__diagnosis.Waits.t) =
        Concord__core__Who.same wait.who first.by
      in
      eventually "the first continues" (fun () ->
          not (List.exists is_first (Concord__diagnosis.Waits.all ())));
      [ first ]);
  int "no cycle" 0 (List.length (cycles_in name (Debug.report ())));
  Mvar.put y ()

(* The new owner's resumer makes the report. At that moment the structure names it as the
   owner already, although it still waits. [use t f] holds [t] while [f] runs. *)
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
  let who =
    Concord__core__Who.make_strong ~host:"by hand" ~name:"the waiter" ended
  in
  let task () =
    Concord__core__Who_is.answering (fun () -> who) (fun () -> wait t)
  in
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
  (* The task that computes the value first is cancelled, so the waiter takes over. *)
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

let () =
  run "Debug: cycles"
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
          test "a pool, if all users wait" each_needs_two;
          test "no cycle if one user may return" one_may_return;
          test "a pool, with leases" lease_of_two;
        ] );
      ( "storm",
        [
          test "all are there, no cycle is made up" storm;
          test "not at once" not_at_once;
        ] );
      ("no cycle while handed over", handed_over);
    ]
