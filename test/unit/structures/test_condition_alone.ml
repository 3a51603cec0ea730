(* Conditions without a mutex. *)

open Concord
open Concord_test_support
open Check

exception Boom

(* A stock of items. Each look takes one. *)
type stock = { items : int Atomic.t; arrived : Condition.t }

let create () = { items = Atomic.make 0; arrived = Condition.create () }

let rec take s () =
  match Atomic.get s.items with
  | 0 -> None
  | n -> if Atomic.compare_and_set s.items n (n - 1) then Some n else take s ()

let put s =
  Atomic.incr s.items;
  Condition.signal s.arrived

let waiting s n = int "waiters" n (Condition.waiters s.arrived)
let left s n = int "items" n (Atomic.get s.items)

(* The ways to loop. The event also stands beside an alternative that is never ready. *)
let direct s f = Condition.loop_no_mutex s.arrived f
let event s f = Event.sync (Condition.loop_no_mutex_evt s.arrived f)

let choice s f =
  Event.select [ Event.never; Condition.loop_no_mutex_evt s.arrived f ]

let ways = [ ("direct", direct); ("event", event); ("choice", choice) ]
let each f () = List.iter (fun (name, loop) -> f name loop) ways

let at_once name loop =
  let s = create () in
  put s;
  int name 1 (Hand.result (Hand.start (fun () -> loop s (take s))));
  waiting s 0;
  left s 0

let waits name loop =
  let s = create () in
  let task = Hand.start (fun () -> loop s (take s)) in
  waiting s 1;
  Condition.signal s.arrived;
  Hand.settle ();
  yes (name ^ ": looked in vain") (Hand.waits task);
  waiting s 1;
  Condition.broadcast s.arrived;
  Hand.settle ();
  yes (name ^ ": looked in vain") (Hand.waits task);
  in_domain (fun () -> put s);
  Hand.settle ();
  int name 1 (Hand.result task);
  waiting s 0

(* The function looks once before each wait. After a wake-up in vain, an event looks once to
   decide whether it is performed, and once more when it begins again. *)
let looks_once name loop =
  let s = create () and looks = ref 0 in
  let look () =
    incr looks;
    take s ()
  in
  let task = Hand.start (fun () -> loop s look) in
  int (name ^ ": before it waits") 1 !looks;
  Condition.signal s.arrived;
  Hand.settle ();
  int
    (name ^ ": before it waits again")
    (if name = "direct" then 2 else 3)
    !looks;
  put s;
  Hand.settle ();
  int name 1 (Hand.result task);
  int (name ^ ": in all") (if name = "direct" then 3 else 4) !looks

(* [what] happens during the first look. *)
let during what s =
  let looks = ref 0 in
  fun () ->
    incr looks;
    let got = take s () in
    if !looks = 1 then what ();
    got

let missed_none name loop =
  let s = create () in
  let look = during (fun () -> put s) s in
  int name 1 (Hand.result (Hand.start (fun () -> loop s look)));
  waiting s 0;
  left s 0

(* A task waits behind the one that looks. A new item's signal comes when the first task has
   found what it wants. So the signal must reach the other task. *)
let passed_on name loop =
  let s = create () in
  let other = ref None in
  let come () =
    other :=
      Some (Hand.start (fun () -> Condition.loop_no_mutex s.arrived (take s)))
  in
  let look () =
    come ();
    Atomic.incr s.items;
    let got = take s () in
    put s;
    got
  in
  int name 1 (Hand.result (Hand.start (fun () -> loop s look)));
  Hand.settle ();
  int (name ^ ": the other") 1 (Hand.result (Option.get !other));
  waiting s 0;
  left s 0

(* The same if the function raises. *)
let raises_ name loop =
  let s = create () in
  let look =
    let looks = ref 0 in
    fun () ->
      incr looks;
      if !looks = 3 then raise Boom;
      None
  in
  let task = Hand.start (fun () -> loop s look) in
  let rec until_it_raises n =
    if Hand.waits task then begin
      if n = 0 then Alcotest.fail "it continues";
      let other = Hand.start (fun () -> Condition.wait_no_mutex s.arrived) in
      Condition.signal s.arrived;
      Hand.settle ();
      if Hand.waits task then Hand.unwind other
      else yes (name ^ ": passed on") (not (Hand.waits other));
      until_it_raises (n - 1)
    end
  in
  until_it_raises 3;
  raises name Boom (fun () -> Hand.result task);
  waiting s 0;
  raises name Boom (fun () -> loop s (fun () -> raise Boom));
  waiting s 0

(* Once a task has looked after a signal, it has used the signal up, even if the look was in
   vain. *)
let used_up name loop =
  let s = create () in
  let task = Hand.start (fun () -> loop s (fun () -> None)) in
  let other = Hand.start (fun () -> Condition.wait_no_mutex s.arrived) in
  Condition.signal s.arrived;
  Hand.settle ();
  yes (name ^ ": looked in vain") (Hand.waits task);
  Hand.unwind task;
  yes (name ^ ": the other one still waits") (Hand.waits other);
  Hand.unwind other;
  waiting s 0

let cancelled name loop =
  let s = create () in
  let task = Hand.start (fun () -> loop s (take s)) in
  let next = Hand.start (fun () -> loop s (take s)) in
  yes "cancelled" (Hand.cancel task);
  put s;
  Hand.settle ();
  Hand.unwound task;
  int (name ^ ": the next one") 1 (Hand.result next);
  waiting s 0

(* The host raises instead of suspending the task. *)
let stopped name loop =
  let s = create () and gate = Promise.create () in
  let task =
    Hand.start (fun () ->
        (try Promise.await gate with Hand.Cancelled -> ());
        loop s (take s))
  in
  Hand.stop task;
  Hand.settle ();
  Hand.unwound task;
  waiting s 0;
  let next = Hand.start (fun () -> loop s (take s)) in
  put s;
  Hand.settle ();
  int name 1 (Hand.result next)

let lost () =
  let s = create () and box = Mvar.create_empty () in
  let events =
    [ Condition.loop_no_mutex_evt s.arrived (take s); Mvar.take_evt box ]
  in
  let task = Hand.start (fun () -> Event.select events) in
  let next = Hand.start (fun () -> direct s (take s)) in
  Mvar.put box 7;
  put s;
  Hand.settle ();
  int "the box" 7 (Hand.result task);
  int "the next one" 1 (Hand.result next);
  (* A choice that is polled or lost at once must leave no waiter. *)
  yes "polled" (Event.poll (List.hd events) = None);
  waiting s 0;
  Mvar.put box 8;
  int "the box" 8 (Event.select events);
  waiting s 0;
  (* A guard beside it raises. *)
  raises "the guard" Boom (fun () ->
      Event.select (Event.guard (fun () -> raise Boom) :: events));
  waiting s 0

(* In direct style, the function may suspend. *)
let suspended_look () =
  let s = create () and gate = Mvar.create_empty () in
  let look () =
    Mvar.take gate;
    take s ()
  in
  let task = Hand.start (fun () -> direct s look) in
  waiting s 1;
  put s;
  Mvar.put gate ();
  Hand.settle ();
  int "it found it" 1 (Hand.result task);
  waiting s 0;
  let task = Hand.start (fun () -> direct s look) in
  waiting s 1;
  let next = Hand.start (fun () -> Condition.wait_no_mutex s.arrived) in
  Condition.signal s.arrived;
  Hand.unwind task;
  Hand.settle ();
  Hand.result next;
  waiting s 0

let wait_misses () =
  let s = create () in
  Condition.signal s.arrived;
  Condition.broadcast s.arrived;
  let task = Hand.start (fun () -> Condition.wait_no_mutex s.arrived) in
  yes "it waits" (Hand.waits task);
  yes "polled" (Event.poll (Condition.wait_no_mutex_evt s.arrived) = None);
  Condition.signal s.arrived;
  Hand.settle ();
  Hand.result task

(* A signal handler interrupts the same task during its look. *)
let from_a_handler name loop =
  let s = create () in
  let old = Sys.signal Sys.sigusr1 (Sys.Signal_handle (fun _ -> put s)) in
  Fun.protect
    ~finally:(fun () -> Sys.set_signal Sys.sigusr1 old)
    (fun () ->
      let interrupt () = Unix.kill (Unix.getpid ()) Sys.sigusr1 in
      let look = during interrupt s in
      int name 1 (Hand.result (Hand.start (fun () -> loop s look))));
  left s 0

let no_effect () =
  let s = create () in
  let woken = Hand.watch (fun () -> Condition.wait_no_mutex s.arrived) in
  let looped = Hand.watch (fun () -> ignore (direct s (take s) : int)) in
  put s;
  yes "the signal" !woken;
  no "not yet" !looped;
  Condition.broadcast s.arrived;
  yes "the broadcast" !looped

(* There are as many consumers as items, and each item has one signal. No consumer may be
   left waiting. *)
let domains name loop =
  let n = 2_000 in
  let s = create () in
  let consume () =
    for _ = 1 to n do
      ignore (loop s (take s) : int)
    done
  in
  let join = domain consume in
  beside consume (fun () ->
      for _ = 1 to 2 * n do
        put s
      done);
  join ();
  left s 0;
  waiting s 0;
  ignore name

(* --- The function raises, in an event ---------------------------------------------- *)

(* [f] raises in look [n]. Each further look comes after a wake-up, or when the event begins
   again. *)
let in_look n =
  let looks = ref 0 in
  fun () ->
    incr looks;
    if !looks = n then raise Boom;
    None

let around =
  [
    ("to_result", Event.to_result);
    ( "wrap_handler",
      fun event ->
        Event.wrap_handler
          (Event.wrap event (fun _ -> Alcotest.fail "it has a value"))
          (fun e -> Error e) );
    ( "beside another",
      fun event ->
        Event.choose [ Event.to_result event; Event.wrap Event.never Result.ok ]
    );
  ]

let handled () =
  let check (name, around) =
    for n = 1 to 5 do
      let c = Condition.create () in
      let event = around (Condition.loop_no_mutex_evt c (in_look n)) in
      let task = Hand.start (fun () -> Event.sync event) in
      while Hand.waits task do
        Condition.signal c;
        Hand.settle ()
      done;
      yes
        (Printf.sprintf "%s, in look %d" name n)
        (Hand.result task = Error Boom);
      int "waiters" 0 (Condition.waiters c)
    done
  in
  List.iter check around

(* The functions around the other alternatives run before or after the handler. *)
let aborted () =
  traced [ "first"; "handler"; "last" ] @@ fun say ->
  let c = Condition.create () in
  let event = Condition.loop_no_mutex_evt c (in_look 2) in
  let task =
    Hand.start (fun () ->
        Event.select
          [
            Event.wrap_abort Event.never (fun () -> say "last");
            Event.wrap_withdraw Event.never (fun () -> say "first");
            Event.wrap_handler event (fun e ->
                yes "its exception" (e = Boom);
                say "handler");
          ])
  in
  Condition.signal c;
  Hand.settle ();
  Hand.result task

let () =
  run "Condition without a mutex"
    [
      ( "loop_no_mutex",
        [
          test "at once" (each at_once);
          test "looks after each wake-up" (each waits);
          test "looks once before it waits" (each looks_once);
          test "misses no signal that comes while it looks" (each missed_none);
          test "passes on a signal that it does not need" (each passed_on);
          test "raises the function's exception" (each raises_);
          test "the function's exception is handled" handled;
          test "the function's exception comes between the aborts" aborted;
          test "a signal is used up by a look in vain" (each used_up);
          test "cancelled" (each cancelled);
          test "no longer suspended" (each stopped);
          test "a lost choice" lost;
          test "a look that suspends" suspended_look;
          test "woken by a signal handler" (each from_a_handler);
          test "threads and domains" (each domains);
        ] );
      ("wait_no_mutex", [ test "misses signals that came before" wait_misses ]);
      Outside.suite no_effect;
    ]
