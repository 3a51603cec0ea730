(* Timeouts on every host. These tests don't measure how late a timeout is, because the
   machine may be busy. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Timer = Concord__core__Timer
module Task = Domainslib.Task

let now () = Int64.to_float (Mtime_clock.now_ns ()) *. 1e-9

(* Checks that [f ()] takes at least [seconds]. *)
let takes seconds f =
  let start = now () in
  let v = f () in
  let took = now () -. start in
  if took < seconds then Alcotest.failf "%g s instead of %g" took seconds;
  v

let none_pending () = int "pending timeouts" 0 (Timer.pending ())
let days = 1e6

(* --- On each host --------------------------------------------------------- *)

let never_early () =
  List.iter
    (fun seconds ->
      takes seconds (fun () -> Event.sync (Event.timeout seconds)))
    [ 0.; 1e-9; 1e-4; 0.001; 0.0123; 0.03 ]

let at_never_early () =
  List.iter
    (fun seconds ->
      let time = Unix.gettimeofday () +. seconds in
      Event.sync (Event.at time);
      (* The two clocks may be read, or adjusted, a moment apart. *)
      yes "at" (Unix.gettimeofday () >= time -. 0.001))
    [ -1.; 0.; 0.01; 0.03 ]

let before () =
  let box = Mvar.create_empty () in
  let expire seconds =
    takes seconds (fun () ->
        yes "None" (Event.sync_before seconds (Mvar.take_evt box) = None));
    int "withdrawn" 0 (Mvar.waiters box)
  in
  List.iter expire [ 0.01; 0.; -1. ];
  Mvar.put box 1;
  yes "nothing was taken" (not (Mvar.is_empty box));
  yes "ready" (Event.sync_before days (Mvar.take_evt box) = Some 1)

(* Another task resumes this one long before the time is up. *)
let in_time () =
  let box = Mvar.create_empty () in
  beside
    (fun () ->
      eventually "it waits" (fun () -> Mvar.waiters box = 1);
      Mvar.put box 7)
    (fun () ->
      yes "in time" (Event.sync_before days (Mvar.take_evt box) = Some 7))

let in_order () =
  let choose () =
    Event.select
      [
        Event.wrap (Event.timeout days) (fun () -> "days");
        Event.wrap (Event.timeout 0.01) (fun () -> "short");
        Event.wrap (Event.timeout infinity) (fun () -> "never");
        Event.wrap (Event.at (Unix.gettimeofday () +. days)) (fun () -> "at");
      ]
  in
  Alcotest.(check string) "the first" "short" (takes 0.01 choose);
  none_pending ()

let each_sync_anew () =
  let timeout = Event.timeout 0.005 in
  for _ = 1 to 3 do
    takes 0.005 (fun () -> Event.sync timeout)
  done

let cases =
  [
    ("timeout is never early", never_early);
    ("at is never early", at_never_early);
    ("sync_before gives up, and consumes nothing", before);
    ("sync_before in time", in_time);
    ("the first of several", in_order);
    ("each sync waits anew", each_sync_anew);
  ]

let on host = List.map (fun (name, f) -> test name (fun () -> host f)) cases

let in_pool f =
  let pool = Task.setup_pool ~num_domains:1 () in
  Fun.protect
    ~finally:(fun () -> Task.teardown_pool pool)
    (fun () -> Task.run pool (fun () -> Task.await pool (Task.async pool f)))

let in_eio f = Eio_main.run (fun _ -> f ())

(* --- Without waiting ------------------------------------------------------ *)

let ready_at_once () =
  let ready event = yes "ready" (Event.poll event = Some ()) in
  List.iter
    (fun seconds -> ready (Event.timeout seconds))
    [ 0.; -0.; -1.; -1e300; neg_infinity ];
  List.iter (fun time -> ready (Event.at time)) [ 0.; -1.; neg_infinity ];
  List.iter
    (fun event -> yes "not ready" (Event.poll event = None))
    [ Event.timeout 1e-9; Event.timeout infinity; Event.at infinity ];
  let box = Mvar.create 1 in
  yes "an event that is not ready" (Event.sync_before 0. Event.never = None);
  (* Both are ready, so either may be performed. *)
  (match Event.sync_before 0. (Mvar.take_evt box) with
  | Some v ->
      int "taken" 1 v;
      yes "taken" (Mvar.is_empty box)
  | None -> yes "not taken" (not (Mvar.is_empty box)));
  none_pending ()

let not_a_number () =
  let misuse name f =
    raises name (Invalid_argument (name ^ ": the time is not a number (nan)")) f
  in
  misuse "Event.timeout" (fun () -> Event.timeout nan);
  misuse "Tasks.sleep" (fun () -> Tasks.sleep nan);
  misuse "Event.at" (fun () -> Event.at nan);
  misuse "Event.sync_before" (fun () -> Event.sync_before nan (Event.always 1))

let never () =
  let wait event =
    let task = Hand.start (fun () -> Event.sync event) in
    Hand.settle ();
    yes "it waits" (Hand.waits task);
    yes "cancel" (Hand.cancel task);
    Hand.settle ();
    raises "sync" Hand.Cancelled (fun () -> Hand.result task)
  in
  List.iter wait
    Event.[ timeout infinity; at infinity; timeout 1e300; timeout max_float ];
  let box = Mvar.create_empty () in
  let task =
    Hand.start (fun () -> Event.sync_before infinity (Mvar.take_evt box))
  in
  Mvar.put box 1;
  Hand.settle ();
  yes "without a limit" (Hand.result task = Some 1);
  none_pending ()

(* --- Withdrawn ------------------------------------------------------------ *)

let losers_are_cancelled () =
  let box = Mvar.create_empty () in
  let timeouts = List.init 10 (fun i -> Event.timeout (days +. float i)) in
  let any = List.map (fun t -> Event.wrap t (fun () -> 0)) timeouts in
  let start () =
    Hand.start (fun () -> Event.select (Mvar.take_evt box :: any))
  in
  let task = start () in
  int "they are pending" 10 (Timer.pending ());
  Mvar.put box 1;
  Hand.settle ();
  int "taken" 1 (Hand.result task);
  none_pending ();
  let task = start () in
  yes "cancel" (Hand.cancel task);
  Hand.settle ();
  none_pending ();
  Mvar.put box 2;
  int "ready: none is set" 2 (Event.select (Mvar.take_evt box :: any));
  none_pending ()

let no_memory () =
  let box = Mvar.create_empty () in
  let wait () =
    Hand.start (fun () -> Event.sync_before days (Mvar.take_evt box))
  in
  let tasks = List.init 10_000 (fun _ -> wait ()) in
  int "pending" 10_000 (Timer.pending ());
  List.iter (fun task -> yes "cancel" (Hand.cancel task)) tasks;
  Hand.settle ();
  none_pending ();
  int "waiters" 0 (Mvar.waiters box)

(* The timeout fires while its task has another outcome or is cancelled, but before the task
   unwinds. *)
let too_late () =
  let later () =
    Timer.run_due ();
    Timer.pending () = 0
  in
  let box = Mvar.create_empty () in
  let start seconds =
    Hand.start (fun () ->
        Event.select
          [
            Mvar.take_evt box; Event.wrap (Event.timeout seconds) (fun () -> 0);
          ])
  in
  let rec start_in_time seconds =
    let task = start seconds in
    Mvar.put box 1;
    if Mvar.is_empty box then task
    else begin
      (* The machine was busy, so the timeout fired before. *)
      Hand.settle ();
      int "it stays" 1 (Mvar.take box);
      start_in_time (2. *. seconds)
    end
  in
  let task = start_in_time 0.001 in
  eventually "it fires" later;
  Hand.settle ();
  int "the value" 1 (Hand.result task);
  let task = start 0.001 in
  let cancelled = Hand.cancel task in
  eventually "it fires" later;
  Hand.settle ();
  if cancelled then
    raises "cancelled" Hand.Cancelled (fun () -> Hand.result task);
  int "waiters" 0 (Mvar.waiters box);
  let task =
    Hand.start (fun () -> Event.sync_before 0.001 (Mvar.take_evt box))
  in
  eventually "it fires" later;
  Mvar.put box 2;
  Hand.settle ();
  yes "the value comes too late" (Hand.result task = None);
  int "it stays" 2 (Mvar.take box);
  none_pending ()

(* A limit that has passed prefers a ready event. *)
let no_time () =
  for _ = 1 to 100 do
    yes "ready" (Event.sync_before 0. (Event.always 1) = Some 1);
    yes "ready" (Event.sync_before (-1.) (Event.always 1) = Some 1);
    yes "not ready" (Event.sync_before 0. Event.never = None)
  done

(* The other alternative seems ready each time it is enlisted, but isn't. The deadline must
   not begin again. *)
let one_deadline () =
  let left = ref 2_000 in
  let attempt () () =
    decr left;
    Thread.delay 0.001;
    if !left = 0 then Some "never ended" else None
  in
  let operation =
    {
      Structure_kit.default with
      name = "test";
      how =
        By_hand
          { attempt; enlist = (fun () _ -> false); withdraw = (fun () _ -> ()) };
    }
  in
  let ended =
    Event.select
      [
        Event.make operation () ();
        Event.wrap (Event.timeout 0.1) (fun () -> "timeout");
      ]
  in
  strings "ended by" [ "timeout" ] [ ended ];
  none_pending ()

let rec in_the_order_of_their_deadlines () =
  let order = ref [] and left = Latch.create 5 in
  let first = Unix.gettimeofday () +. 0.02 in
  let all_set =
    Concord_fifo.run @@ fun () ->
    let start i =
      let sleep () =
        Event.sync (Event.at (first +. (0.002 *. float i)));
        order := i :: !order;
        Latch.count_down left
      in
      ignore (Concord_fifo.fork sleep : Concord_fifo.handle)
    in
    List.iter start [ 3; 1; 5; 2; 4 ];
    Concord_fifo.yield ();
    let all_set = Timer.pending () = 5 in
    Latch.await left;
    all_set
  in
  if all_set then
    Alcotest.(check (list int)) "order" [ 1; 2; 3; 4; 5 ] (List.rev !order)
  else (* the machine was too slow *) in_the_order_of_their_deadlines ()

let () =
  run "Event: timeouts"
    [
      ("fifo", on Concord_fifo.run);
      ("thread", on in_thread);
      ("Eio", on in_eio);
      ("Domainslib", on in_pool);
      ("domain", on in_domain);
      ( "without waiting",
        [
          test "zero and less are ready" ready_at_once;
          test "not a number" not_a_number;
          test "infinity is never" never;
        ] );
      ( "withdrawn",
        [
          test "timeouts that lose are cancelled" losers_are_cancelled;
          test "10,000 cancelled timeouts leave nothing" no_memory;
          test "one that fires too late" too_late;
          test "a choice that begins again has one deadline" one_deadline;
          test "sync_before without time" no_time;
          test "several tasks, in order" in_the_order_of_their_deadlines;
        ] );
    ]
