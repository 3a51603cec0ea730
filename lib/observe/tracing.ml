include Trace_event

(* --- Emitting ---------------------------------------------------------------- *)

let tag_name = "concord"

(* Text, so that between the first byte and the last no other code runs in the domain. *)
let payload =
  let encode buffer text =
    let length = Int.min (String.length text) (Bytes.length buffer) in
    Bytes.blit_string text 0 buffer 0 length;
    length
  and decode buffer length = Bytes.sub_string buffer 0 length in
  Runtime_events.Type.register ~encode ~decode

type Runtime_events.User.tag += Concord

(* Not before the program is traced, or reads: what is not needed is not registered. *)
let registered = Atomic.make (None : string Runtime_events.User.t option)

(* What a signal handler raises in there comes out of [Fun.protect]. *)
let emit event =
  match Atomic.get registered with
  | None -> ()
  | Some user -> (
      try Runtime_events.User.write user (to_string event)
      with Fun.Finally_raised e ->
        Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ()))

let is_on_ = Atomic.make false
let[@inline] is_on () = Atomic.get is_on_

(* Twice by two threads at once does no harm. *)
let register () =
  if Option.is_none (Atomic.get registered) then
    Atomic.set registered
      (Some (Runtime_events.User.register tag_name Concord payload))

let start () =
  if not (is_on ()) then begin
    register ();
    Runtime_events.start ();
    Atomic.set is_on_ true;
    emit (Began { program = Sys.executable_name })
  end

let stop () = Atomic.set is_on_ false
let () = if Debugging.has "trace" then start ()
let task = Task_id.of_who

(* --- Waits ------------------------------------------------------------------- *)

let last_wait = Atomic.make 0
let this_domain () = (Domain.self () :> int)

let operation targets =
  List.map (fun { Waits.operation; _ } -> operation) targets
  |> List.filter (fun name -> name <> "")
  |> List.sort_uniq String.compare
  |> String.concat ", "

let max_frames = 24

let is_of_library slot =
  match Printexc.Slot.name slot with
  | Some name ->
      String.starts_with ~prefix:"Stdlib" name
      || not (Debug_frames.is_of_program name)
  | None -> false

(* The line of the program that waits: the innermost one that is not the library's. *)
let line_of raw =
  let rec from i =
    if i = Printexc.raw_backtrace_length raw then ""
    else
      let slot =
        Printexc.convert_raw_backtrace_slot
          (Printexc.get_raw_backtrace_slot raw i)
      in
      match Printexc.Slot.location slot with
      | Some { filename; line_number; _ } when not (is_of_library slot) ->
          Printf.sprintf "%s:%d" filename line_number
      | Some _ | None -> from (i + 1)
  in
  from 0

(* What resumers were called with, be it in vain, and how far [block] came. *)
type progress = {
  errors : exn list Atomic.t;
  mutable entered : bool;
  mutable left : bool;
}

let outcome progress e =
  if List.memq e (Atomic.get progress.errors) then Raised
  else if progress.entered && not progress.left then Raised
  else Cancelled

(* The waker is asked for before the task may go on. Whatever a signal handler raises here,
   the resumer is called, and its answer is the caller's: the exception comes in the thread's
   next wait. *)
let waking ~ask ~wait ~suspended_on progress resumer outcome =
  match task (ask ()) with
  | exception e ->
      Late.keep e (Printexc.get_raw_backtrace ());
      resumer outcome
  | by ->
      (match outcome with
      | Ok _ -> ()
      | Error e -> Atomically.update progress.errors (List.cons e));
      let before = Mtime_clock.now_ns () in
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
  let at = line_of (Printexc.get_callstack max_frames) in
  let progress = { errors = Atomic.make []; entered = false; left = false } in
  let traced resumer =
    progress.entered <- true;
    let found = block (waking ~ask ~wait ~suspended_on progress resumer) in
    progress.left <- true;
    found
  in
  (* What is told has happened, and its value would be lost if a signal handler raised: its
     exception comes in the thread's next wait. *)
  let resumed outcome =
    try emit (Resumed { wait; task; domain = this_domain (); outcome })
    with e -> Late.keep e (Printexc.get_raw_backtrace ())
  in
  let operation = operation targets in
  Late.raise_kept ();
  match
    emit (Suspended { wait; task; domain = suspended_on; operation; at });
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
  let resumed outcome =
    if not (Atomic.exchange is_over true) then
      emit (Resumed { wait; task; domain = this_domain (); outcome })
  in
  let traced resumer =
    let at = line_of (Printexc.get_callstack max_frames) in
    let operation = operation [ target ] in
    emit (Suspended { wait; task; domain = suspended_on; operation; at });
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

(* --- Tasks that begin and end, and queues ------------------------------------ *)

let began_by ~parent ~ask =
  let task_ = task (ask ()) in
  emit (Forked { task = task_; parent = task parent; domain = this_domain () });
  task_

let ended task =
  try emit (Ended { task; domain = this_domain () })
  with e -> Late.keep e (Printexc.get_raw_backtrace ())

(* Whatever a signal handler raises here, [f] is called: others may wait for what it does.
   Nor is it raised after [f] has returned: a task that has done all has not failed.
   Between the first [match] and [f] there is no polling point. *)
let forked ~parent ~ask f =
  match began_by ~parent ~ask with
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
      f ()

let queue name length = emit (Queue { name; domain = this_domain (); length })
