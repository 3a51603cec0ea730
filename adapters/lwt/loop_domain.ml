module Promise = Concord.Promise
module Signals = Concord.Private.Signals

let ( let* ) = Lwt.bind

(* [is_open]

   State  Left by   To     By whom
   true   release   false  the loop's thread
   false  never (terminal)

   Jobs look at it, and so may the thread of a later loop. *)
type 'r t = { value : 'r; is_open : bool Atomic.t }

let whichever = { value = (); is_open = Atomic.make true }

let call { value; is_open } f =
  Calls.call (fun () ->
      if Atomic.get is_open then f value else raise Jobs.No_loop)

(* --- In the loop ------------------------------------------------------------ *)

let idle () =
  let idle, waker = Lwt.wait () in
  Jobs.when_idle (Lwt.wakeup_later waker);
  idle

let is_idle_within seconds =
  let idle = Lwt.map (fun () -> true) (idle ()) in
  if seconds = Float.infinity then idle
  else Lwt.pick [ idle; Lwt.map (fun () -> false) (Lwt_unix.sleep seconds) ]

let release loop ~grace ~close =
  let* is_idle = is_idle_within grace in
  Atomic.set loop.is_open false;
  let* () =
    if is_idle then Lwt.return_unit
    else begin
      Jobs.cancel_all ();
      Lwt.map (fun (_ : bool) -> ()) (is_idle_within grace)
    end
  in
  close loop.value

let serve ~await ~grace ~close create ~ready ~leave =
  let creating = create () in
  let leaving = await leave in
  Lwt.on_success leaving (fun () -> Lwt.cancel creating);
  let* value = creating in
  let loop = { value; is_open = Atomic.make true } in
  Promise.fill ready loop;
  let* () = leaving in
  release loop ~grace ~close

(* --- The thread that has the domain ------------------------------------------ *)

(* It blocks all signals, so that no handler can keep it from telling the caller; and it
   waits for the domain, for which there is no other way. *)
let keep mask ~recording ~ready ~over serve () =
  let in_domain () =
    Printexc.record_backtrace recording;
    match
      Signals.set mask;
      serve ()
    with
    | () -> None
    | exception e -> Some (e, Printexc.get_raw_backtrace ())
  in
  match
    match Domain.join (Domain.spawn in_domain) with
    | ended -> ended
    | exception e -> Some (e, Printexc.get_raw_backtrace ())
  with
  | None -> Promise.fill over ()
  | Some (e, backtrace) ->
      ignore (Promise.try_fail ~backtrace ready e : bool);
      Promise.fail ~backtrace over e

(* --- In the caller ------------------------------------------------------------ *)

(* Also if a signal handler raises: then it is done once more. *)
let finish ~leave ~over =
  let finish () =
    ignore (Promise.try_fill leave () : bool);
    Concord.Tools.Suspend.protect (fun () -> Promise.await over)
  in
  match finish () with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if not (Promise.is_resolved over) then finish ();
      Printexc.raise_with_backtrace e backtrace

let with_domain ~run ~await ?(grace = 10.) ?(close = fun _ -> Lwt.return_unit)
    create f =
  if not (grace >= 0.) then
    invalid_arg
      (Printf.sprintf "Concord_lwt.with_domain: a grace of %g seconds" grace);
  let ready = Promise.create () and leave = Promise.create () in
  let over = Promise.create () in
  let serve () = run (fun () -> serve ~await ~grace ~close create ~ready ~leave)
  and recording = Printexc.backtrace_status () in
  let start mask =
    match Thread.create (keep mask ~recording ~ready ~over serve) () with
    | (_ : Thread.t) -> ()
    | exception e ->
        Promise.fail over e;
        raise e
  and finish () = finish ~leave ~over in
  match
    Signals.while_blocked start;
    Promise.await ready
  with
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      (match finish () with () -> () | exception _ -> ());
      Printexc.raise_with_backtrace e backtrace
  | loop -> (
      match f loop with
      | v ->
          finish ();
          v
      | exception e -> (
          let backtrace = Printexc.get_raw_backtrace () in
          match finish () with
          | () -> Printexc.raise_with_backtrace e backtrace
          | exception cause when e = Jobs.No_loop -> raise cause
          | exception _ -> Printexc.raise_with_backtrace e backtrace))
