open Concord
open Check
open Operations
open Battery_scene

(* --- Order -------------------------------------------------------------------- *)

let in_order ~settled s =
  let tasks = List.map (start s) (names 3) in
  waiting s 3;
  yes "they wait" (List.for_all Hand.waits tasks);
  wake_all ~settled s 3;
  served s (names 3)

(* --- Cancelled ---------------------------------------------------------------- *)

(* A cancelled waiter is subtracted exactly once, whether a wake passed over it before it was
   unwound, or it was unwound first. *)
let count s =
  let unwound = start s 90 in
  let _three = List.map (start s) (names 3) in
  Hand.unwind unwound;
  waiting s 3;
  wake s;
  waiting s 2;
  Hand.settle ();
  let cancelled = start s 91 in
  let _fourth = start s 40 in
  cancel cancelled;
  wake_all s 1;
  waiting s 2;
  wake s;
  waiting s 1;
  let cancelled = start s 92 in
  (* There are so many waiters that the queue doesn't check each of them to count the live
     ones. *)
  let others = List.filter (fun name -> name > 40) (names 24) in
  List.iter (fun name -> ignore (start s name : unit Hand.t)) others;
  cancel cancelled;
  wake s;
  wake s;
  Hand.settle ();
  Hand.unwound cancelled;
  waiting s 19;
  wake_all s 19;
  served s (names 24)

(* --- Many --------------------------------------------------------------------- *)

let many = 10_000

let all_served s =
  let before = s.place.words () in
  let _tasks = List.init 1_000 (fun _ -> start s 10) in
  wake_all ~settled:false s 1_000;
  ignore (s.place.left () : int list);
  waiting s 0;
  (* If waits are recorded, a lock remembers who holds it, so it keeps more words. *)
  if not (debugged_with "waits") then yes "words" (s.place.words () <= before)

(* Ten live waiters, and then one in a thousand. *)
let among_cancelled s =
  let _first = List.map (start s) (names 10) in
  let words_of_ten = s.place.words () in
  let rest = List.init many (fun i -> 10 * (i + 11)) in
  let lives name = name mod 10_000 = 0 in
  let tasks = List.map (fun name -> (name, start s name)) rest in
  List.iter (fun (name, task) -> if not (lives name) then cancel task) tasks;
  Hand.settle ();
  waiting s 20;
  yes "only live waiters take memory" (s.place.words () < 10 * words_of_ten);
  wake_all s 20;
  served s (names 10 @ List.filter lives rest)

(* A third of the waiters has been unwound, and another third was cancelled but not yet
   unwound. *)
let among_refusing s =
  let tasks = List.map (fun name -> (name, start s name)) (names 99) in
  let every k = List.filter (fun (name, _) -> name / 10 mod 3 = k) tasks in
  List.iter (fun (_, task) -> Hand.unwind task) (every 1);
  List.iter (fun (_, task) -> cancel task) (every 2);
  wake_all ~settled:false s 33;
  List.iter (fun (_, task) -> Hand.unwound task) (every 2);
  served s (List.map fst (every 0))

(* --- In a choice with a box --------------------------------------------------- *)

let event s name = (Option.get s.place.event) name

let chooser s box name =
  let take = Event.wrap (Mvar.take_evt box) (fun () -> other) in
  start ~wait:(fun name -> Event.select [ event s name; take ]) s name

(* Only one of the two alternatives is performed. *)
let twice s =
  let wait name = Event.select [ event s name; event s name ] in
  Hand.unwind (start ~wait s 90);
  let _task = start ~wait s 10 in
  waiting s (if s.service = Meets then 1 else 2);
  let _next = start s 20 in
  wake_all s 2;
  served s [ 10; 20 ]

(* --- The end ------------------------------------------------------------------ *)

let finish s = snd (Option.get s.place.ends) ()

let raised s task =
  raises "the end" (fst (Option.get s.place.ends)) (fun () -> Hand.result task)

let over s =
  raised s (start s 50);
  served s []

(* One alternative ends. The choice raises, and has performed nothing. *)
let ended_in_a_choice s =
  let box = Mvar.create_empty () in
  let task = chooser s box 10 in
  finish s;
  Mvar.put box ();
  Hand.settle ();
  raised s task;
  yes "not taken" (Mvar.try_take box = Some ());
  served s []

exception Interrupt

let struck s ~strike =
  Hand.watch ?strike:(if strike then Some Interrupt else None) (task s 10)

(* Five tasks wait. The resumers of the second and the fourth raise. *)
let interrupted ?(after = ignore) resume s =
  let resumed = List.init 5 (fun i -> struck s ~strike:(i = 1 || i = 3)) in
  raises "the exception" Interrupt (fun () -> resume s);
  List.iteri (fun i it -> yes (Printf.sprintf "waiter %d" i) !it) resumed;
  waiting s 0;
  after s

let one_interrupted s =
  let first = struck s ~strike:true in
  let second = struck s ~strike:false in
  raises "the exception" Interrupt (fun () -> wake s);
  yes "the first one is resumed" !first;
  no "the second is not" !second;
  waiting s 1

(* --- On other hosts ----------------------------------------------------------- *)

(* Lets the tasks run. If this check fails, the exception cancels those that still wait. *)
let gone_on s n =
  for _ = 1 to 10 do
    Concord_fifo.yield ()
  done;
  int "have continued" n (List.length (Atomic.get s.served))

let in_fifo s =
  Concord_fifo.run (fun () ->
      let fork name = ignore (Concord_fifo.fork (task s name)) in
      List.iter fork (names 3);
      waiting s 3;
      wake_all s 3;
      gone_on s 3);
  served s (names 3)

let cancelled_in_fifo cancellation s =
  Concord_fifo.run ~cancellation (fun () ->
      let fork name = Concord_fifo.fork (task s name) in
      let first = fork 90 in
      let _others = List.map fork (names 2) in
      Concord_fifo.cancel first;
      wake_all s 2;
      gone_on s 2);
  served s (names 2)

let elsewhere start s =
  let join = start (task s 10) in
  eventually "it waits" (fun () -> s.place.waiters () = 1);
  wake s;
  eventually "it continues" (fun () -> Atomic.get s.served <> []);
  join ();
  served s [ 10 ]

(* --- All cases ---------------------------------------------------------------- *)

let when_ condition cases = if condition then cases else []

(* The cases for every way of waiting. *)
let waits ({ service; _ } : _ Operations.t) =
  [
    ("served in order", in_order ~settled:true);
    ("all are woken before one continues", in_order ~settled:false);
    ("in Fifo", in_fifo);
    ("in a thread", elsewhere thread);
    ( "in Fifo on another domain",
      elsewhere (fun f -> domain (fun () -> Concord_fifo.run f)) );
  ]
  @ when_ (service <> Meets)
      [
        ("a third is cancelled, and a third refuses", among_refusing);
        ("cancelled in Fifo", cancelled_in_fifo `Eager);
        ("cancelled lazily in Fifo", cancelled_in_fifo `Lazy);
      ]
  @ when_ (one_by_one service)
      [
        ("they are counted", count);
        ("the resumption of one is interrupted", one_interrupted);
      ]
  @ when_ (service = Shares)
      [ ("the resumption of all is interrupted", interrupted wake) ]

let crowds =
  [
    ("1,000 served waiters leave nothing", all_served);
    ("a few among 10,000 cancelled waiters", among_cancelled);
  ]

let choices { repeats; _ } = when_ repeats [ ("twice in one choice", twice) ]

let ends =
  [ ("the end is interrupted: all get it", interrupted finish ~after:over) ]

(* [most] is the largest number of tasks that will wait. *)
let scene (operation : int Operations.t) most way =
  let place = operation.make most in
  let service = operation.service and remembers = operation.remembers in
  let wait = way place in
  { service; remembers; place; wait; given = []; served = Atomic.make [] }

let direct (place : _ place) = place.wait
let event_of place = Option.get place.event
let synced place name = Event.sync (event_of place name)
let chosen place name = Event.select [ event_of place name; Event.never ]

let suites_of operation =
  let test ?(most = 100) way (name, f) =
    test name (fun () -> f (scene operation most way))
  in
  let has_event, has_end =
    let place = operation.make 1 in
    (Option.is_some place.event, Option.is_some place.ends)
  in
  let whoever_spins way =
    let served_in_order () =
      in_order ~settled:false (scene operation 100 way)
    in
    Check.test "served in order, whichever waits spin"
      (Spinning.each served_in_order)
  in
  let suite what way =
    ( operation.name ^ what,
      List.map (test way) (waits operation @ when_ has_end ends)
      @ List.map (test ~most:20_000 way) crowds
      @ [ whoever_spins way ] )
  in
  let in_a_choice =
    choices operation
    @ when_ has_end [ ("an alternative ends", ended_in_a_choice) ]
  in
  [ suite "" direct ]
  @ when_ has_event [ suite ", its event" synced; suite ", a choice" chosen ]
  @ when_
      (has_event && in_a_choice <> [])
      [ (operation.name ^ " in a choice", List.map (test direct) in_a_choice) ]

let suites operations = List.concat_map suites_of operations
