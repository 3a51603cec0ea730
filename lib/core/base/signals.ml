type mask = int list

let all = List.init 64 succ

(* Windows has no signal masks, but it also has no signals from outside the program. *)
let sigmask command signals =
  if Sys.win32 then [] else Thread.sigmask command signals

let set mask = ignore (sigmask SIG_SETMASK mask : mask)

(* The handlers of pending signals run before the mask is set, and may raise. *)
let rec block () =
  match sigmask SIG_BLOCK all with
  | (_ : mask) -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      block ();
      Printexc.raise_with_backtrace e backtrace

let while_blocked f =
  let mask = sigmask SIG_BLOCK [] in
  let blocked () =
    block ();
    f mask
  in
  Backtrace.finally blocked ~finally:(fun () -> set mask)

let under mask f =
  let unblocked () =
    set mask;
    f ()
  in
  Backtrace.finally unblocked ~finally:block
