(* Checks the report about waiting tasks, on any host. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Test_host

let () = Debug.keep_waits ()

(* Stands in for a host's operations if the test forks its tasks itself. *)
let observer pause = { fork = ignore; pause }
let waits () = (Debug.report ()).waits
let cycles () = (Debug.report ()).cycles

let operations (wait : Debug.wait) =
  List.map (fun p -> p.Debug.operation) wait.targets

let structures (wait : Debug.wait) =
  List.filter_map (fun p -> p.Debug.structure) wait.targets

(* The waits in the structure of this name. *)
let waits_in name =
  List.filter (fun wait -> List.mem name (structures wait)) (waits ())

let names = Atomic.make 0

(* Each test names its own structure, so that it can't see the waits of another test. *)
let named structure =
  let name = Printf.sprintf "structure %03d" (Atomic.fetch_and_add names 1) in
  Debug.name structure name;
  name

let until tasks what condition = eventually ~pause:tasks.pause what condition

(* Waits until one task waits there, and returns its wait. *)
let the_one tasks name =
  until tasks ("one waits in " ^ name) (fun () ->
      List.compare_length_with (waits_in name) 1 = 0);
  List.hd (waits_in name)

let none tasks name =
  until tasks ("no task waits in " ^ name) (fun () -> waits_in name = [])

let frames (wait : Debug.wait) = Printexc.raw_backtrace_to_string wait.waits_at

let[@inline never] takes_here mvar =
  let v = Mvar.take mvar in
  Sys.opaque_identity v

let[@inline never] chooses_here a b =
  let v = Event.select [ Mvar.take_evt a; Mvar.take_evt b ] in
  Sys.opaque_identity v

let in_an_mvar host () =
  host.run (fun tasks ->
      let mvar = Mvar.create_empty () and ended = Promise.create () in
      let name = named mvar in
      tasks.fork (fun () ->
          takes_here mvar;
          Promise.fill ended ());
      let wait = the_one tasks name in
      Alcotest.(check string) "host" host.reported wait.task.host;
      strings "operations" [ "Mvar.take" ] (operations wait);
      yes "since when" (wait.waits_for >= 0. && wait.waits_for < 60.);
      yes ("frames: " ^ frames wait) (contains (frames wait) "takes_here");
      Mvar.put mvar ();
      until tasks "it has ended" (fun () -> Promise.is_resolved ended);
      int "it is not listed" 0 (List.length (waits_in name)))

let in_a_choice host () =
  host.run (fun tasks ->
      let a = Mvar.create_empty () and b = Mvar.create_empty () in
      let ended = Promise.create () in
      let in_a = named a and in_b = named b in
      tasks.fork (fun () ->
          chooses_here a b;
          Promise.fill ended ());
      let wait = the_one tasks in_a in
      Alcotest.(check string) "host" host.reported wait.task.host;
      strings "operations" [ "Mvar.take"; "Mvar.take" ] (operations wait);
      strings "structures" [ in_a; in_b ]
        (List.sort String.compare (structures wait));
      yes ("frames: " ^ frames wait) (contains (frames wait) "chooses_here");
      Mvar.put b ();
      until tasks "it has ended" (fun () -> Promise.is_resolved ended);
      int "not in a" 0 (List.length (waits_in in_a));
      int "not in b" 0 (List.length (waits_in in_b)))

let timed_out host () =
  host.run (fun tasks ->
      let mvar = Mvar.create_empty () and ended = Promise.create () in
      let name = named mvar in
      tasks.fork (fun () ->
          let took =
            Event.select
              [
                Event.wrap (Mvar.take_evt mvar) (fun () -> true);
                Event.wrap (Event.timeout 0.02) (fun () -> false);
              ]
          in
          no "it was not given" took;
          Promise.fill ended ());
      until tasks "it has ended" (fun () -> Promise.is_resolved ended);
      int "it is not listed" 0 (List.length (waits_in name)))

let origin (wait : Debug.wait) =
  match wait.origin with
  | Some origin -> origin
  | None -> Alcotest.failf "%s: no origin" wait.task.name

(* A task of a scope forks another one, and the report must show where. *)
let forked_in_a_scope host () =
  host.run (fun tasks ->
      let box = Mvar.create_empty () and of_parent = Mvar.create_empty () in
      let in_box = named box and in_the_parent's = named of_parent in
      let ended = Promise.create () in
      let[@inline never] forks_here scope =
        Scope.fork scope (fun () ->
            Scope.fork scope (fun () -> Mvar.take box);
            Mvar.take of_parent);
        Sys.opaque_identity ()
      in
      tasks.fork (fun () ->
          Scope.run forks_here;
          Promise.fill ended ());
      let child = the_one tasks in_box
      and parent = the_one tasks in_the_parent's in
      int "by the parent" parent.task.id (origin child).parent.id;
      let there = Printexc.raw_backtrace_to_string (origin parent).forked_at in
      yes ("frames: " ^ there) (contains there "forks_here");
      Mvar.put box ();
      Mvar.put of_parent ();
      until tasks "it has ended" (fun () -> Promise.is_resolved ended))

(* A task holds a mutex and awaits another task, which waits for this mutex. *)
let in_a_join host () =
  host.run (fun tasks ->
      let mutex = Mutex.create () and ended = Promise.create () in
      let promise = ref None in
      let name = named mutex in
      tasks.fork (fun () ->
          Mutex.lock mutex;
          Scope.run (fun scope ->
              let other =
                Scope.fork_promise scope (fun () ->
                    Mutex.lock mutex;
                    Mutex.unlock mutex)
              in
              promise := Some other;
              Promise.await other;
              Mutex.unlock mutex);
          Promise.fill ended ());
      let other = the_one tasks name in
      until tasks "a cycle" (fun () -> List.length (cycles ()) = 1);
      let cycle = List.hd (cycles ()) in
      (* The cycle has a third member if the scope runs a loop. *)
      yes "two of them, or three" (List.mem (List.length cycle) [ 2; 3 ]);
      yes "one waits for the mutex"
        (List.exists (fun wait -> structures wait = [ name ]) cycle);
      let join =
        List.find (fun wait -> operations wait = [ "Promise.await" ]) (waits ())
      in
      let target = List.hd join.targets in
      strings "the holder" [ other.task.name ]
        (List.map (fun h -> h.Debug.by.name) target.holders);
      (* Now the awaiting task continues and unlocks. *)
      yes "filled" (Promise.try_fill (Option.get !promise) ());
      until tasks "it has ended" (fun () -> Promise.is_resolved ended);
      int "it is not listed" 0 (List.length (waits_in name));
      int "no cycle" 0 (List.length (cycles ())))

(* Two tasks wait for each other until the first one is cancelled. *)
let lock_both ~at_once first second =
  Mutex.lock first;
  Latch.count_down at_once;
  Latch.await at_once;
  Fun.protect
    (fun () ->
      Mutex.lock second;
      Mutex.unlock second)
    ~finally:(fun () -> Mutex.unlock first)

let cycle_of ~hosts ~mutexes tasks =
  until tasks "a cycle" (fun () -> List.length (cycles ()) = 1);
  let cycle = List.hd (cycles ()) in
  strings "hosts"
    (List.sort String.compare hosts)
    (List.sort String.compare
       (List.map (fun (w : Debug.wait) -> w.task.host) cycle));
  strings "what they wait for"
    (List.sort String.compare mutexes)
    (List.sort String.compare (List.concat_map structures cycle));
  let holders (w : Debug.wait) =
    List.concat_map (fun p -> p.Debug.holders) w.targets
  in
  let names wait = List.map (fun h -> h.Debug.by.name) (holders wait) in
  match cycle with
  | [ a; b ] ->
      strings "b holds" [ b.task.name ] (names a);
      strings "a holds" [ a.task.name ] (names b)
  | _ -> Alcotest.fail "not two"

let cancel_in host =
  match host.cancel with
  | Some cancel -> cancel
  | None -> Alcotest.fail (host.name ^ " cannot cancel")

let two_locks (host, tasks) (other, others) =
  let a = Mutex.create () and b = Mutex.create () in
  let at_once = Latch.create 2 and mutexes = List.map named [ a; b ] in
  others.fork (fun () -> lock_both ~at_once b a);
  cancel_in host
    (fun () -> lock_both ~at_once a b)
    ~after:(fun () ->
      cycle_of ~hosts:[ host.reported; other.reported ] ~mutexes tasks)

let none_left () =
  int "no task waits" 0 (List.length (waits ()));
  int "no cycle" 0 (List.length (cycles ()))

let locks_of_tasks host () =
  host.run (fun tasks -> two_locks (host, tasks) (host, tasks));
  none_left ()

(* The task of [host] is cancelled. *)
let locks_of_two_hosts host other () =
  other.run (fun others ->
      host.run (fun tasks -> two_locks (host, tasks) (other, others)));
  none_left ()

let cancelled host () =
  host.run (fun tasks ->
      let mvar = Mvar.create_empty () in
      let name = named mvar in
      cancel_in host
        (fun () -> Mvar.take mvar)
        ~after:(fun () -> ignore (the_one tasks name : Debug.wait));
      int "it is not listed" 0 (List.length (waits_in name)))

(* A task is asked for its identity whenever it takes a lock. The answer must be the same
   weak pointer each time, because a new one for each lock would cost memory. *)
let asked_again host () =
  host.run (fun tasks ->
      (* Alcotest's functions must not be called on two domains at once. *)
      let ended = Latch.create 2 and same = Atomic.make 0 in
      let ask () =
        let identity () = (Concord__diagnosis.Identify.task ()).identity in
        let before = identity () in
        Suspend.yield ();
        if identity () == before then Atomic.incr same;
        Latch.count_down ended
      in
      tasks.fork ask;
      tasks.fork ask;
      until tasks "they have ended" (fun () -> Latch.is_open ended);
      int "the same pointer" 2 (Atomic.get same))

let cases host =
  ( host.reported,
    [
      test "asked again" (asked_again host);
      test "in an Mvar" (in_an_mvar host);
      test "in a choice" (in_a_choice host);
      test "that timed out" (timed_out host);
      test "forked in a scope" (forked_in_a_scope host);
      test "in a join" (in_a_join host);
    ] )
