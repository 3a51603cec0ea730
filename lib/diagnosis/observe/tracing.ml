include Trace_event

(* --- Emitting ---------------------------------------------------------------- *)

let tag_name = "concord"

(* The payload is text, because no other code of the domain may run between its first and last
   byte. A single blit has no polling point. *)
let payload =
  let encode buffer text =
    let length = Int.min (String.length text) (Bytes.length buffer) in
    Bytes.blit_string text 0 buffer 0 length;
    length
  and decode buffer length = Bytes.sub_string buffer 0 length in
  Runtime_events.Type.register ~encode ~decode

type Runtime_events.User.tag += Concord

(* [None] until the program is traced or reads a trace, because most programs never need it. *)
let registered = Atomic.make (None : string Runtime_events.User.t option)

(* [concord-trace --pid] touches a file while it reads. If it was killed, the file gets old, and
   nobody would stop the trace. Only a trace that a signal started has such a reader. *)
let sign : string option Atomic.t = Atomic.make None

let note_sign () =
  let folder =
    match Sys.getenv_opt "OCAML_RUNTIME_EVENTS_DIR" with
    | Some folder -> folder
    | None -> "."
  in
  let file = Printf.sprintf "%d.reader" (Unix.getpid ()) in
  Atomic.set sign (Some (Filename.concat folder file))

let seconds_unread = 5.

(* If the clock was set, a file may look old whose reader lives. The reader touches it each second. *)
let ns_to_touch = 2_000_000_000L

type old = { mtime : float; since_ns : int64 }

let old = Atomic.make { mtime = 0.; since_ns = 0L }

let stays_old mtime =
  let before = Atomic.get old and now = Mtime_clock.now_ns () in
  if before.mtime = mtime then
    Int64.compare (Int64.sub now before.since_ns) ns_to_touch > 0
  else begin
    Atomic.set old { mtime; since_ns = now };
    false
  end

let is_unread () =
  match Option.map Unix.stat (Atomic.get sign) with
  | Some { st_mtime; _ } ->
      Unix.gettimeofday () -. st_mtime > seconds_unread && stays_old st_mtime
  | None | (exception Unix.Unix_error _) -> false

let stop () = Observer.(stop trace)

(* Looking at the file takes a system call, so one event of many does so. *)
let between_looks = 1_000
let until_look = Atomic.make between_looks

let stop_if_unread () =
  if Atomic.fetch_and_add until_look (-1) = 1 then begin
    Atomic.set until_look between_looks;
    if is_unread () then stop ()
  end

(* [write] uses [Fun.protect], which wraps exceptions of its [finally]. *)
let emit event =
  match Atomic.get registered with
  | None -> ()
  | Some user -> (
      try
        Runtime_events.User.write user (to_string event);
        stop_if_unread ()
      with Fun.Finally_raised e ->
        Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ()))

(* If two threads register at once, that does no harm. *)
let register () =
  if Option.is_none (Atomic.get registered) then
    Atomic.set registered
      (Some (Runtime_events.User.register tag_name Concord payload))

let start () =
  if not (Observer.is_traced ()) then begin
    register ();
    Debug_frames.load ();
    Runtime_events.start ();
    Observer.(start trace);
    emit (Began { program = Sys.executable_name })
  end

let on_signal signal =
  let toggle _ =
    if Observer.is_traced () then stop ()
    else begin
      note_sign ();
      start ()
    end
  in
  Sys.set_signal signal (Signal_handle toggle)

let () = if Debugging.has "trace" then start ()
let task = Task_id.of_who

(* --- Waits ------------------------------------------------------------------- *)

let last_wait = Atomic.make 0
let this_domain () = (Domain.self () :> int)

let operation targets =
  List.map (fun { Target.operation; _ } -> operation) targets
  |> List.filter (fun name -> name <> "")
  |> List.sort_uniq String.compare
  |> String.concat ", "

(* Structures without a name are left out. *)
let structures targets =
  List.filter_map (fun { Target.structure; _ } -> Labels.name structure) targets
  |> List.sort_uniq String.compare
  |> String.concat ", "

(* [errors] are the exceptions that a resumer was called with, even if it returned [false].
   [entered] and [left] say how far [block] came. *)
type progress = {
  errors : exn list Atomic.t;
  mutable entered : bool;
  mutable left : bool;
}

let outcome progress e =
  if e == Observer.Nudged then Returned
  else if List.memq e (Atomic.get progress.errors) then Raised
  else if progress.entered && not progress.left then Raised
  else Cancelled

(* The waker is determined before [resumer] is called, because the task may continue right
   after that. Unbroken: [resumer] is called in any case, and its answer is returned. There is no
   polling point between the first [match] and the call. The thread's next wait raises an
   exception that comes meanwhile. *)
let waking ~ask ~wait ~suspended_on progress resumer outcome =
  match
    let by = task (ask ()) in
    (match outcome with
    | Ok _ -> ()
    | Error e -> Atomically.update progress.errors (List.cons e));
    (by, Mtime_clock.now_ns ())
  with
  | exception e ->
      Late.keep e (Printexc.get_raw_backtrace ());
      Sys.opaque_identity (resumer outcome)
  | by, before ->
      resumer outcome
      && begin
        (try
           let ago = Int64.sub (Mtime_clock.now_ns ()) before in
           let domain = this_domain () and ago_ns = Int64.to_int ago in
           emit (Woken { wait; by; domain; suspended_on; ago_ns })
         with e -> Late.keep e (Printexc.get_raw_backtrace ()));
        true
      end

let during ~who ~ask targets suspend block =
  let wait = 1 + Atomic.fetch_and_add last_wait 1 in
  let task = task who and suspended_on = this_domain () in
  let at = Call_site.here () in
  let progress = { errors = Atomic.make []; entered = false; left = false } in
  let traced resumer =
    progress.entered <- true;
    let found = block (waking ~ask ~wait ~suspended_on progress resumer) in
    progress.left <- true;
    found
  in
  (* Unbroken, because the value would be lost. The thread's next wait raises the exception. *)
  let resumed outcome =
    try emit (Resumed { wait; task; domain = this_domain (); outcome })
    with e ->
      Late.keep e (Printexc.get_raw_backtrace ());
      ()
  in
  let operation = operation targets and structure = structures targets in
  Late.raise_kept ();
  match
    emit
      (Suspended { wait; task; domain = suspended_on; operation; structure; at });
    suspend traced
  with
  | v ->
      resumed Returned;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      resumed (outcome progress e);
      Printexc.raise_with_backtrace e backtrace

let operation ~host ~ask target block =
  let wait = 1 + Atomic.fetch_and_add last_wait 1 in
  let task = task { (Who.unknown host) with name = "an operation" } in
  let suspended_on = this_domain () and is_over = Atomic.make false in
  let progress = { errors = Atomic.make []; entered = false; left = false } in
  (* Unbroken, as in [during] *)
  let resumed outcome =
    if not (Atomic.exchange is_over true) then (
      try emit (Resumed { wait; task; domain = this_domain (); outcome })
      with e ->
        Late.keep e (Printexc.get_raw_backtrace ());
        ())
  in
  let traced resumer =
    let at = Call_site.here () in
    let operation = operation [ target ]
    and structure = structures [ target ] in
    emit
      (Suspended { wait; task; domain = suspended_on; operation; structure; at });
    progress.entered <- true;
    match block (waking ~ask ~wait ~suspended_on progress resumer) with
    | None ->
        progress.left <- true;
        None
    | Some _ as found ->
        progress.left <- true;
        resumed Returned;
        found
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        resumed Raised;
        Printexc.raise_with_backtrace e backtrace
  and ended = function
    | None -> resumed Returned
    | Some e -> resumed (outcome progress e)
  in
  (traced, ended)

(* --- Tasks that begin and end, queues, marks ---------------------------------- *)

let began_by ~parent ~at ~ask =
  let task_ = task (ask ()) and domain = this_domain () in
  emit (Forked { task = task_; parent = task parent; domain; at });
  task_

let ended task =
  try emit (Ended { task; domain = this_domain () })
  with e ->
    Late.keep e (Printexc.get_raw_backtrace ());
    ()

(* Unbroken, because other tasks may wait for the result of [f]. There is no polling point
   between the first [match] and the call of [f]. *)
let forked ~parent ~at ~ask f =
  match began_by ~parent ~at ~ask with
  | task -> (
      match f () with
      | v ->
          ended task;
          v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          ended task;
          Printexc.raise_with_backtrace e backtrace)
  | exception e ->
      Late.keep e (Printexc.get_raw_backtrace ());
      Sys.opaque_identity (f ())

let queue name length = emit (Queue { name; domain = this_domain (); length })

let mark ~ask text =
  emit (Mark { task = task (ask ()); domain = this_domain (); text })
