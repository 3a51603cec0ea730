let this_thread () = Thread.id (Thread.self ())

let every seconds =
  let timer = { Unix.it_interval = seconds; it_value = seconds } in
  ignore (Unix.setitimer ITIMER_REAL timer : Unix.interval_timer_status)

let shortest = 0.000_05

(* Where everything takes longer, what always begins again would never end. *)
let slow_down in_vain =
  if in_vain mod 20 = 0 then
    every (Float.min 0.1 (shortest *. (2. ** float (in_vain / 20))))

let run ~by ~count f =
  let this = this_thread () and armed = ref false in
  (* Not armed outside of the [try]. *)
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
        (* of an earlier run, kept by the library *)
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

let only test =
  if Sys.backend_type = Sys.Native && not Check.instrumented then [ test ]
  else []
