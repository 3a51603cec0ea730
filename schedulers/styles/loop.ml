open Concord.Tools
open Group
module Spin = Host_kit.Spin
module Inbox = Host_kit.Inbox
module Timer = Concord.Private.Timer
module Leaks = Concord.Private.Leaks
module Reach = Concord.Private.Reach

(* --- The end ---------------------------------------------------------------- *)

let end_with style t ending =
  if not (is_ending t) then begin
    t.ending <- ending;
    style.clear t.data;
    resume_all t ~even_protected:false
  end

let stop style =
  match find style with
  | Some ({ phase = Running; _ } as t) ->
      end_with style t Stopping;
      raise_notrace Ended
  | Some t ->
      (* The threads that were spawned are forgotten. *)
      leave style t
  | None -> ()

(* --- The loop --------------------------------------------------------------- *)

(* Unlike in [Fun.protect], [finally] may raise, because a signal handler may interrupt it. *)
let finally f ~finally =
  match f () with
  | v ->
      finally ();
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      finally ();
      Printexc.raise_with_backtrace e backtrace

let is_in_host () =
  match Host_kit.probe { passing = ignore } with
  | Suspends -> true
  | Parks -> false

let in_host t =
  match t.in_host with
  | Some in_host -> in_host
  | None ->
      let in_host = is_in_host () in
      t.in_host <- Some in_host;
      in_host

(* A thread or a domain that could have woken the loop may end, and nothing reports that. So
   the loop checks for a deadlock again and again. It doesn't in a task of a host, because the
   host may always wake it. A timeout there would also make an outer loop, of another style,
   believe that it may be woken. Time decides only when the loop checks, not what it finds. *)
let look_every = 1.

let check_again ~in_host look =
  if in_host then ignore else Timer.after look_every look

let sleep t ~in_host suspend =
  let block resumer =
    t.bell <- resumer;
    if Inbox.fall_asleep t.turns then None else Some ()
  in
  let forget =
    check_again ~in_host (fun () -> ignore (t.bell (Ok ()) : bool))
  in
  finally
    (fun () -> suspend block)
    ~finally:(fun () ->
      forget ();
      Inbox.wake_up t.turns)

let rec wait_for_turn t suspend =
  if not (Spin.until t.spin (fun () -> is_ready t)) then begin
    let in_host = in_host t in
    if not (in_host || Host_kit.may_be_woken ~asleep:0) then begin
      (* Lost threads are reported first, because [Deadlock] says less about them. *)
      Leaks.collect ();
      (* The last thread that could wake the loop may have done so and ended meanwhile, so
         [is_ready] is checked last. *)
      if not (is_ready t) then raise (Deadlock t.n_waits)
    end;
    sleep t ~in_host suspend;
    if not (is_ready t) then wait_for_turn t suspend
  end

(* The loop waits for protected threads even if its caller is cancelled. If the host refuses to
   suspend the caller, the system thread waits. *)
let wait_for_protected t =
  try Suspend.protect (fun () -> wait_for_turn t Reach.suspend_loop) with
  | Deadlock _ as e -> raise_notrace e
  | _ -> wait_for_turn t Host_kit.suspend_thread

(* The call of [leave] in [finally] must not be a tail call. A tail call of another module's
   function would add a polling point at the beginning of [finally]. If a signal handler raised
   there, the group would stay [Running] forever. *)
let run_turns style t ~outside run =
  Host_kit.using ?outside t.host @@ fun () ->
  finally
    (fun () ->
      t.phase <- Running;
      enter style t;
      try run t with Ended -> ())
    ~finally:(fun () ->
      leave style t;
      ())

let rec loop style t ~outside run =
  begin match
    (* This is done again, because a signal handler may have raised the first time. *)
    if is_ending t then resume_all t ~even_protected:false;
    run_turns style t ~outside run;
    if t.n_waits > 0 && not (is_ready t) then
      if is_ending t then wait_for_protected t
      else wait_for_turn t Reach.suspend_loop
  with
  | () -> ()
  | exception Deadlock _ when is_ending t ->
      (* Nothing can wake the protected threads, so they are ended too. *)
      resume_all t ~even_protected:true
  | exception _ when is_ending t -> ()
  | exception e -> end_with style t (Failing (e, Printexc.get_raw_backtrace ()))
  end;
  if t.n_waits > 0 || is_ready t then loop style t ~outside run

(* The loop catches all exceptions, except one that a signal handler raises while it does so. *)
let rec insist style t ~outside run =
  match loop style t ~outside run with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if not (is_ending t) then t.ending <- Failing (e, backtrace);
      insist style t ~outside run

let refuse_to_start name =
  Printf.ksprintf invalid_arg
    "Concord_styles.%s.start: called by a thread of this style. Threads that \
     it spawns run without a call of start"
    name

let start ?outside style run =
  match find style with
  | None -> ()
  | Some { phase = Running; _ } -> refuse_to_start style.name
  | Some t -> (
      leave style t;
      insist style t ~outside run;
      match t.ending with
      | Not_yet | Stopping -> ()
      | Failing (e, backtrace) -> Printexc.raise_with_backtrace e backtrace)
