(* What the report says of tasks that wait, on any host. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let () = Debug.keep_waits ()

(* [fork f] starts a task of the host; [pause ()] lets others go on, in a task that looks
   at the report. *)
type tasks = { fork : (unit -> unit) -> unit; pause : unit -> unit }

type host = {
  name : string;  (** As in the report. *)
  run : (tasks -> unit) -> unit;
}

let waits () = (Debug.report ()).waits
let cycles () = (Debug.report ()).cycles

let operations (wait : Debug.wait) =
  List.map (fun p -> p.Debug.operation) wait.targets

let structures (wait : Debug.wait) =
  List.filter_map (fun p -> p.Debug.structure) wait.targets

(* Those that wait in what has this name. *)
let waits_in name =
  List.filter (fun wait -> List.mem name (structures wait)) (waits ())

let names = Atomic.make 0

(* Of a structure of its own in each test. *)
let named structure =
  let name = Printf.sprintf "structure %03d" (Atomic.fetch_and_add names 1) in
  Debug.name structure name;
  name

let until tasks what condition = eventually ~pause:tasks.pause what condition

(* The one task that waits there, once it does. *)
let the_one tasks name =
  until tasks ("one waits in " ^ name) (fun () ->
      List.compare_length_with (waits_in name) 1 = 0);
  List.hd (waits_in name)

let none tasks name =
  until tasks ("nobody waits in " ^ name) (fun () -> waits_in name = [])

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
      Alcotest.(check string) "host" host.name wait.task.host;
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
      Alcotest.(check string) "host" host.name wait.task.host;
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

(* A task that is awaited waits for what the one that awaits it holds. *)
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
      (* the loop in between, if the scope has one *)
      yes "two of them, or three" (List.mem (List.length cycle) [ 2; 3 ]);
      yes "one waits for the mutex"
        (List.exists (fun wait -> structures wait = [ name ]) cycle);
      let join =
        List.find (fun wait -> operations wait = [ "Promise.await" ]) (waits ())
      in
      let target = List.hd join.targets in
      strings "the holder" [ other.task.name ]
        (List.map (fun h -> h.Debug.by.name) target.holders);
      (* the one that awaits goes on, and unlocks *)
      yes "filled" (Promise.try_fill (Option.get !promise) ());
      until tasks "it has ended" (fun () -> Promise.is_resolved ended);
      int "it is not listed" 0 (List.length (waits_in name));
      int "no cycle" 0 (List.length (cycles ())))

(* Two that wait for each other, until one of them is cancelled. *)
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

let two_locks fork_first fork_second ~hosts tasks =
  let a = Mutex.create () and b = Mutex.create () in
  let at_once = Latch.create 2 and mutexes = List.map named [ a; b ] in
  fork_first (fun () -> lock_both ~at_once a b);
  fork_second (fun () -> lock_both ~at_once b a);
  cycle_of ~hosts ~mutexes tasks

(* A task is asked whenever it takes a lock: no other weak pointer to it is made. *)
let asked_again host () =
  host.run (fun tasks ->
      (* Alcotest's functions are not for two domains at once. *)
      let ended = Latch.create 2 and same = Atomic.make 0 in
      let ask () =
        let identity () = (Concord__Reach.who ()).identity in
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
  ( host.name,
    [
      test "asked again" (asked_again host);
      test "in an Mvar" (in_an_mvar host);
      test "in a choice" (in_a_choice host);
      test "that timed out" (timed_out host);
      test "in a join" (in_a_join host);
    ] )
