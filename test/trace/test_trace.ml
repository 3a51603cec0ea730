(* The events of one process, read by itself. *)

open Concord
open Concord.Tools
open Concord_test_support

let events = ref []

let callbacks =
  Trace.add_to (Runtime_events.Callbacks.create ()) (fun _ _ event ->
      events := event :: !events)

let cursor =
  lazy
    (Runtime_events.start ();
     Runtime_events.create_cursor None)

let read () =
  ignore
    (Runtime_events.read_poll (Stdlib.Lazy.force cursor) callbacks None : int);
  List.rev !events

(* Those of [f]. *)
let of_ f =
  ignore (read () : Trace.event list);
  events := [];
  f ();
  read ()

let traced f =
  of_ (fun () ->
      Trace.start ();
      Fun.protect ~finally:Trace.stop f)

let is_suspended = function Trace.Suspended _ -> true | _ -> false
let until_suspended () = List.exists is_suspended (read ())

(* One task waits, and is resumed by the caller. *)
let meet wait wake =
  let join = Check.thread wait in
  Check.eventually "a wait" until_suspended;
  wake ();
  join ()

let meet_at_mvar () =
  let mvar = Mvar.create_empty () in
  (* not the last call, so that the line is this one *)
  let wait () =
    Mvar.take mvar;
    ()
  in
  meet wait (fun () -> Mvar.put mvar ())

let text = function
  | Trace.Began _ -> "began"
  | Suspended { operation; _ } -> "suspended in " ^ operation
  | Woken { by; _ } -> "woken by " ^ by.name
  | Resumed { outcome = Returned; _ } -> "returned"
  | Resumed { outcome = Raised; _ } -> "raised"
  | Resumed { outcome = Cancelled; _ } -> "cancelled"
  | Forked _ -> "forked"
  | Ended _ -> "ended"
  | Queue _ -> "queue"

let said events =
  List.filter (fun said -> said <> "queue") (List.map text events)

(* The runtime emits; a thread and a task of Fifo suspend. *)
let nothing () =
  let suspended = Atomic.make 0 in
  let suspend resumer =
    Atomic.incr suspended;
    ignore (Thread.create (fun () -> resumer (Ok ())) () : Thread.t);
    None
  in
  let run () =
    Suspend.suspend suspend;
    Concord_fifo.run (fun () ->
        ignore
          (Concord_fifo.fork (fun () -> Suspend.suspend suspend)
            : Concord_fifo.handle))
  in
  Check.no "on" (Trace.is_on ());
  Check.int "events" 0 (List.length (of_ run));
  Check.int "suspensions" 2 (Atomic.get suspended)

let wait_and_wake () =
  let events = traced meet_at_mvar in
  Check.strings "events"
    [ "began"; "suspended in Mvar.take"; "woken by thread 0"; "returned" ]
    (said events);
  match events with
  | [ _; Suspended s; Woken w; Resumed r ] ->
      Check.int "wait" s.wait w.wait;
      Check.int "wait" s.wait r.wait;
      Check.int "task" s.task.id r.task.id;
      Check.no "the waker" (s.task.id = w.by.id);
      Check.yes "the line" (Check.contains s.at "test_trace.ml:");
      Check.int "domain" s.domain w.suspended_on;
      Check.int "domain" s.domain w.domain
  | _ -> Check.yes "four events" false

let stopped () =
  ignore (traced meet_at_mvar : Trace.event list);
  nothing ()

exception Told

let raised () =
  let found = ref None in
  let wait () =
    match
      Suspend.suspend (fun resumer ->
          found := Some resumer;
          None)
    with
    | () -> ()
    | exception Told -> ()
  in
  let wake () =
    let resumer = Option.get !found in
    Check.yes "the first" (resumer (Error Told));
    Check.no "the second" (resumer (Ok ()))
  in
  (* Only the resumer that resumed is told. *)
  Check.strings "events"
    [ "began"; "suspended in "; "woken by thread 0"; "raised" ]
    (said (traced (fun () -> meet wait wake)))

let cancelled () =
  let run () =
    Concord_fifo.run (fun () ->
        let mvar = Mvar.create_empty () in
        let task = Concord_fifo.fork (fun () -> Mvar.take mvar) in
        Concord_fifo.cancel task)
  in
  let said = said (traced run) in
  Check.yes "cancelled" (List.mem "cancelled" said);
  Check.no "woken" (List.exists (String.starts_with ~prefix:"woken") said)

let forked () =
  let run () = Concord_fifo.run (fun () -> ignore (Concord_fifo.fork ignore)) in
  let events = traced run in
  match
    List.filter
      (function Trace.Forked _ | Ended _ -> true | _ -> false)
      events
  with
  | [ Forked f; Ended e ] ->
      Check.int "task" f.task.id e.task.id;
      Check.no "the parent" (f.task.id = f.parent.id);
      Check.strings "names"
        [ "fifo"; "task 1"; "task 0" ]
        [ f.task.host; f.task.name; f.parent.name ]
  | _ -> Check.strings "events" [] (said events)

let in_scope () =
  let run () =
    Concord_fifo.run (fun () ->
        Scope.run (fun scope -> Scope.fork scope ignore))
  in
  let said = said (traced run) in
  let of_one wanted = List.filter (String.equal wanted) said in
  Check.strings "forks" [ "forked" ] (of_one "forked");
  Check.strings "ends" [ "ended" ] (of_one "ended")

let handed_over () =
  let mvar = Mvar.create_empty () in
  let run () =
    meet
      (fun () -> Mvar.take mvar)
      (fun () -> Check.in_domain (fun () -> Mvar.put mvar ()))
  in
  let find = function
    | Trace.Woken { domain; suspended_on; _ } -> Some (domain, suspended_on)
    | _ -> None
  in
  match List.filter_map find (traced run) with
  | [ (domain, suspended_on) ] -> Check.no "the domain" (domain = suspended_on)
  | found -> Check.int "wakes" 1 (List.length found)

let queue () =
  let lengths = function
    | Trace.Queue { name; length; _ } ->
        Some (Printf.sprintf "%s %d" name length)
    | _ -> None
  in
  let run () =
    Concord_fifo.run (fun () ->
        for _ = 1 to 3 do
          ignore
            (Concord_fifo.fork (fun () ->
                 Concord_fifo.yield ();
                 Suspend.suspend (fun _ -> Some ())))
        done)
  in
  Check.strings "lengths"
    [ "fifo: ready tasks 2"; "fifo: ready tasks 2"; "fifo: ready tasks 0" ]
    (List.filter_map lengths (traced run))

let as_text () =
  let module Tracing = Concord__Tracing in
  let same event =
    let text = Tracing.to_string event in
    Check.yes "length" (String.length text <= 1000);
    match Tracing.of_string text with
    | Some read -> Check.strings "text" [ text ] [ Tracing.to_string read ]
    | None -> Check.yes text false
  in
  let task = { Tracing.id = 3; host = "a\tb\n"; name = String.make 2000 'x' } in
  let at = String.make 5000 'y' and operation = String.make 5000 'z' in
  same (Tracing.Suspended { wait = 1; task; domain = 2; operation; at });
  same (Forked { task; parent = task; domain = 2 });
  same (Resumed { wait = 1; task; domain = 0; outcome = Cancelled });
  Check.yes "of another version"
    (Option.is_none (Tracing.of_string "suspended\tx\t"))

let () =
  Check.run "trace"
    [
      ( "events",
        [
          Check.test "nothing when off" nothing;
          Check.test "wait and wake" wait_and_wake;
          Check.test "nothing when stopped" stopped;
          Check.test "raised" raised;
          Check.test "cancelled" cancelled;
          Check.test "forked" forked;
          Check.test "forked in a scope" in_scope;
          Check.test "handed over" handed_over;
          Check.test "queue" queue;
          Check.test "as text" as_text;
        ] );
    ]
