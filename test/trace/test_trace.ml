(* The events of one process, which reads them itself. *)

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

(* The events during [f]. *)
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

(* One task waits, and the caller resumes it. *)
let meet wait wake =
  let join = Check.thread wait in
  Check.eventually "a wait" until_suspended;
  wake ();
  join ()

let meet_at_mvar () =
  let mvar = Mvar.create_empty () in
  (* The call isn't the last one in this function, so that the line in the trace is this one. *)
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
  | Mark { text; _ } -> "mark " ^ text

let said events =
  List.filter (fun said -> said <> "queue") (List.map text events)

(* The runtime emits its own events, but tracing is off. A thread and a task of Fifo suspend,
   and the library emits no event. *)
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

(* A sleeping thread is woken to try again. *)
let nudged () =
  let events =
    traced @@ fun () ->
    let m = Mutex.create () in
    Mutex.lock m;
    let thread = Thread.create (fun () -> Mutex.protect m ignore) () in
    while Mutex.waiters m < 1 do
      Thread.yield ()
    done;
    Mutex.unlock m;
    Thread.join thread
  in
  Check.strings "events"
    [ "began"; "suspended in Mutex.lock"; "woken by thread 0"; "returned" ]
    (said events)

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
  (* The trace contains only the resumer that resumed the task. *)
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

(* Waits in a structure that has a name, and in a choice between two such structures. *)
let names () =
  let jobs = Mvar.create_empty ~name:"jobs" ()
  and results = Mvar.create_empty ~name:"results" () in
  let run () =
    Concord_fifo.run (fun () ->
        let take = Concord_fifo.fork (fun () -> Mvar.take jobs) in
        Mvar.put jobs ();
        Concord_fifo.join take;
        let choose =
          Concord_fifo.fork (fun () ->
              Event.select [ Mvar.take_evt results; Mvar.take_evt jobs ])
        in
        Mvar.put results ();
        Concord_fifo.join choose;
        let plain = Mvar.create_empty () in
        let take = Concord_fifo.fork (fun () -> Mvar.take plain) in
        Mvar.put plain ();
        Concord_fifo.join take)
  in
  let name = function
    | Trace.Suspended { operation; structure; _ }
      when Check.contains operation "Mvar.take" ->
        Some structure
    | _ -> None
  in
  Check.strings "names"
    [ "jobs"; "jobs, results"; "" ]
    (List.filter_map name (traced run))

let marks () =
  let long = String.make 150 'm' ^ String.make 50 'n' in
  let run () =
    Trace.mark "one\ttwo";
    Concord_fifo.run (fun () -> Trace.mark long)
  in
  Check.int "when off" 0 (List.length (of_ run));
  let mark = function
    | Trace.Mark { text; task; domain } ->
        Check.int "domain" (Domain.self () :> int) domain;
        Some (task.host ^ ", " ^ task.name ^ ": " ^ text)
    | _ -> None
  in
  Check.strings "marks"
    [ ", thread 0: one two"; "fifo, task 0: " ^ String.sub long 0 180 ]
    (List.filter_map mark (traced run))

(* Each call stack is decoded once, and many of them don't make others wrong. *)
let call_sites () =
  let module Call_site = Concord__diagnosis.Call_site in
  let lines = ref [] in
  for _ = 1 to 2 do
    lines := Call_site.here () :: !lines
  done;
  (match !lines with
  | [ first; second ] ->
      Check.yes "the line" (Check.contains first "test_trace.ml:");
      Check.yes "decoded once" (first == second)
  | _ -> assert false (* There are exactly two. *));
  (* A different stack for each number, taken at one of two lines. *)
  let rec stack n =
    if n = 0 then Printexc.get_callstack Call_site.max_frames
    else if n = 1 then Printexc.get_callstack Call_site.max_frames
    else if n mod 2 = 0 then Sys.opaque_identity (stack (n / 2))
    else Sys.opaque_identity (stack (n / 2))
  in
  for n = 0 to 4_095 do
    let raw = stack n in
    Check.strings "the same line"
      [ Call_site.decode raw ]
      [ Call_site.line raw ]
  done

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
      Check.yes "the line" (Check.contains f.at "test_trace.ml:");
      Check.strings "names"
        [ "fifo"; "task 1"; "task 0" ]
        [ f.task.host; f.task.name; f.parent.name ]
  | _ -> Check.strings "events" [] (said events)

let in_scope () =
  let run () =
    Concord_fifo.run (fun () ->
        Scope.run (fun scope ->
            Scope.fork scope ignore;
            ()))
  in
  let events = traced run in
  let said = said events in
  let is_here = function
    | Trace.Forked { at; _ } -> Check.contains at "test_trace.ml:"
    | _ -> false
  in
  Check.yes "the line" (List.exists is_here events);
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
  let module Tracing = Concord__diagnosis.Tracing in
  let same event =
    let text = Tracing.to_string event in
    Check.yes "length" (String.length text <= 1000);
    match Tracing.of_string text with
    | Some read -> Check.strings "text" [ text ] [ Tracing.to_string read ]
    | None -> Check.yes text false
  in
  let task = { Tracing.id = 3; host = "a\tb\n"; name = String.make 2000 'x' } in
  let at = String.make 5000 'y' and operation = String.make 5000 'z' in
  let structure = operation in
  same
    (Tracing.Suspended { wait = 1; task; domain = 2; operation; structure; at });
  same (Forked { task; parent = task; domain = 2; at });
  same (Mark { task; domain = 2; text = operation });
  same (Resumed { wait = 1; task; domain = 0; outcome = Cancelled });
  Check.yes "of another version"
    (Option.is_none (Tracing.of_string "suspended\tx\t"));
  (* The formats before waits had the structure's name, and forks their line. *)
  List.iter
    (fun text -> Check.yes text (Option.is_none (Tracing.of_string text)))
    [
      "suspended\t1\t2\tfifo\ttask 1\t0\tMvar.take\ta.ml:1";
      "forked\t2\tfifo\ttask 1\t1\tfifo\ttask 0\t0";
    ]

let () =
  Check.run "trace"
    [
      ( "events",
        [
          Check.test "nothing when off" nothing;
          Check.test "wait and wake" wait_and_wake;
          Check.test "woken to try again" nudged;
          Check.test "nothing when stopped" stopped;
          Check.test "raised" raised;
          Check.test "cancelled" cancelled;
          Check.test "forked" forked;
          Check.test "forked in a scope" in_scope;
          Check.test "handed over" handed_over;
          Check.test "queue" queue;
          Check.test "names of structures" names;
          Check.test "marks" marks;
          Check.test "lines" call_sites;
          Check.test "as text" as_text;
        ] );
    ]
