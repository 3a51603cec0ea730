(* Writes a page with more rows than a canvas is high. It has 3,000 tasks, each forked at its
   own line, and 70 more that one line forked. *)

open Concord.Tools
open Concord_trace

let item at event = { Recorder.pid = 1; time_ns = at; event = Told event }

let task id at =
  let task = { Trace.id; host = "eio"; name = Printf.sprintf "fiber %d" id } in
  let wait = id and domain = 0 and by = { task with id = 1_000_000 } in
  let begun = 1_000 * id in
  [
    item begun (Trace.Forked { task; parent = task; domain; at });
    item (begun + 100)
      (Trace.Suspended
         { wait; task; domain; operation = "Mvar.take"; structure = "jobs"; at });
    item 9_000_000
      (Trace.Woken { wait; by; domain; suspended_on = 1; ago_ns = 0 });
    item 9_000_500 (Trace.Resumed { wait; task; domain; outcome = Returned });
    item 9_001_000 (Trace.Ended { task; domain });
  ]

let () =
  let line i = Printf.sprintf "a.ml:%d" (if i <= 3_000 then i else 4_000) in
  let items =
    List.concat (List.init 3_070 (fun i -> task (i + 1) (line (i + 1))))
  in
  let profile = Profile.create () in
  Page.write stdout ~title:"many"
    ~names:[ (1, "many") ]
    ~lost:0 ~profile (Timeline.make items)
