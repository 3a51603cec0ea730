(* A small tracer, as those of OpenTelemetry are. It knows no host. *)

open Concord

type span = { trace : int; id : int; parent : int option; name : string }

let current : span Local.t = Local.create ()
let next = Atomic.make 1
let ended : span Mailbox.t = Mailbox.create ()

let in_new_span ~trace ~parent name f =
  let span = { trace; id = Atomic.fetch_and_add next 1; parent; name } in
  Local.with_binding current span (fun () ->
      Fun.protect f ~finally:(fun () -> Mailbox.add ended span))

let in_span name f =
  match Local.get current with
  | Some { trace; id; _ } -> in_new_span ~trace ~parent:(Some id) name f
  | None -> f ()

let start_trace trace name f = in_new_span ~trace ~parent:None name f

(* The header [traceparent] of a request to another service. *)
let header () =
  Option.map
    (fun { trace; id; _ } -> Printf.sprintf "00-%032x-%016x-01" trace id)
    (Local.get current)

(* --- Printing ----------------------------------------------------------------- *)

let rec print spans parent indent =
  let children = List.filter (fun span -> span.parent = parent) spans in
  let by_name a b = String.compare a.name b.name in
  List.iter
    (fun span ->
      Printf.printf "%s%s\n" indent span.name;
      print spans (Some span.id) (indent ^ "  "))
    (List.sort by_name children)

let print_all () =
  let spans = Mailbox.drain ended in
  let traces = List.sort_uniq Int.compare (List.map (fun s -> s.trace) spans) in
  List.iter
    (fun trace ->
      Printf.printf "trace %d\n" trace;
      print (List.filter (fun s -> s.trace = trace) spans) None "  ")
    traces
