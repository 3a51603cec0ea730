let this_thread () = Thread.id (Thread.self ())

let every seconds =
  let timer = { Unix.it_interval = seconds; it_value = seconds } in
  ignore (Unix.setitimer ITIMER_REAL timer : Unix.interval_timer_status)

let shortest = 0.000_05

(* If everything takes longer, a function that is started again after each signal would never
   end. So the signals become rarer. *)
let slow_down in_vain =
  if in_vain mod 20 = 0 then
    every (Float.min 0.1 (shortest *. (2. ** float (in_vain / 20))))

let run ~by ~count f =
  let this = this_thread () and armed = ref false in
  (* The handler is armed only inside the [try]. *)
  let handle _ =
    if !armed && this_thread () = this then begin
      armed := false;
      raise by
    end
  in
  let before = Sys.signal Sys.sigalrm (Signal_handle handle) in
  let in_vain = ref 0 in
  let rec insist () =
    match
      armed := true;
      f ();
      armed := false
    with
    | () -> ()
    | exception e when e == by ->
        (* The library kept this exception from an earlier run. *)
        armed := false;
        incr count;
        incr in_vain;
        if Check.debugged then slow_down !in_vain;
        insist ()
  in
  every shortest;
  Fun.protect insist ~finally:(fun () ->
      armed := false;
      every 0.;
      Sys.set_signal Sys.sigalrm before)

let others ~by ~in_thread f =
  let handle _ = if in_thread () then raise by in
  let before = Sys.signal Sys.sigalrm (Signal_handle handle) in
  every shortest;
  Fun.protect f ~finally:(fun () ->
      every 0.;
      Sys.set_signal Sys.sigalrm before)

let is_of_stdlib name =
  List.exists
    (fun prefix -> String.starts_with ~prefix name)
    [ "Stdlib"; "Camlinternal" ]

let caller (allocation : Gc.Memprof.allocation) =
  let slots = Printexc.backtrace_slots allocation.callstack in
  Array.to_seq (Option.value slots ~default:[||])
  |> Seq.filter_map Printexc.Slot.name
  |> Seq.filter (fun name -> not (is_of_stdlib name))
  |> Seq.uncons
  |> Option.fold ~none:"" ~some:fst

(* Raises at allocation [first] and at the ones after it, [times] in all. Returns how many
   allocations there were. *)
let interrupt_allocations ~within ~first ~times f =
  let armed = ref false and seen = ref 0 in
  let counts allocation =
    within = "" || String.starts_with ~prefix:within (caller allocation)
  in
  let callback allocation =
    if !armed && counts allocation then begin
      incr seen;
      if first <= !seen && !seen < first + times then raise Exit
    end;
    None
  in
  let tracker =
    {
      Gc.Memprof.null_tracker with
      alloc_minor = callback;
      alloc_major = callback;
    }
  in
  ignore (Gc.Memprof.start ~sampling_rate:1. tracker : _);
  (try f armed with Exit -> ());
  armed := false;
  Gc.Memprof.stop ();
  !seen

let at_every_allocation ?(within = "") make =
  let rec turn first ~times =
    let f, check = make () in
    let seen = interrupt_allocations ~within ~first ~times f in
    check (Printf.sprintf "allocations from %d on, %d of them" first times);
    if first <= seen then turn (first + 1) ~times
    else Check.yes "there were some" (first > 2)
  in
  List.iter (fun times -> turn 1 ~times) [ 1; 2; 7; 50 ]

let only test =
  if Sys.backend_type = Sys.Native && not Check.instrumented then [ test ]
  else []

let all_of make =
  at_every_allocation @@ fun () ->
  let f, check = make () in
  let f armed =
    armed := true;
    f ();
    armed := false
  in
  (f, check)

let passes =
  let open Concord in
  let enlist () w =
    ignore (Tools.Structure_kit.Waiter.resume w (Ok ()) : bool);
    true
  in
  let attempt () () = None and withdraw () _ = () in
  Event.make
    {
      Tools.Structure_kit.default with
      name = "test";
      how = By_hand { attempt; enlist; withdraw };
    }
    () ()
