(* The caller's task waits for [ready], runs its function, fills [leave], and waits for
   [over]. It does the last two steps however the function ends. *)
type 'r t = {
  ready : 'r Promise.t;
  leave : unit Promise.t;
  over : unit Promise.t;
}

let wait_to_leave t =
  Reach.suspend_unlisted (fun resumer ->
      Promise.on_resolve t.leave (fun _ -> ignore (resumer (Ok ()) : bool));
      None)

let keep t body mask () =
  match body mask t with
  | () -> ignore (Promise.try_fill t.over () : bool)
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (Promise.try_fail ~backtrace t.ready e : bool);
      ignore (Promise.try_fail ~backtrace t.over e : bool)

let start t body started mask =
  started := true;
  match Thread.create (keep t body mask) () with
  | (_ : Thread.t) -> ()
  | exception e ->
      Promise.fail t.over e;
      raise e

let finish t =
  ignore (Promise.try_fill t.leave () : bool);
  Suspend.protect (fun () ->
      ignore (Promise.await_result t.over : (unit, exn) result))

let within body f =
  let t =
    {
      ready = Promise.create ();
      leave = Promise.create ();
      over = Promise.create ();
    }
  and started = ref false in
  match
    Signals.while_blocked (start t body started);
    f (Promise.await t.ready)
  with
  | v ->
      finish t;
      Promise.await t.over;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if !started then finish t;
      Printexc.raise_with_backtrace e backtrace

(* --- A loop in a domain of its own ------------------------------------------ *)

let check_grace what grace =
  if not (grace >= 0.) then
    invalid_arg
      (Printf.sprintf "%s: grace must be at least 0, but is %g" what grace)

let in_domain serve ended mask t =
  let attempt f =
    match f () with
    | () -> None
    | exception e -> Some (e, Printexc.get_raw_backtrace ())
  in
  let failure =
    attempt (fun () ->
        Signals.set mask;
        serve t)
  in
  let failed_later = attempt (fun () -> ended t) in
  if Option.is_some failure then failure else failed_later

let with_loop ~no_loop ?(ended = ignore) serve f =
  let recording = Printexc.backtrace_status () in
  let failure = ref None in
  let raise_ (e, backtrace) = Printexc.raise_with_backtrace e backtrace in
  let body mask t =
    let domain () =
      Printexc.record_backtrace recording;
      Identity.clear_at_end ();
      in_domain serve ended mask t
    in
    failure := Domain.join (Domain.spawn domain);
    Option.iter raise_ !failure
  in
  match within body f with
  | v -> v
  | exception e when e == no_loop ->
      let backtrace = Printexc.get_raw_backtrace () in
      raise_ (Option.value !failure ~default:(e, backtrace))
