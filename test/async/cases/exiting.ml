(* A function of [at_exit] waits, in a job of Async that exits. The process has status 0 only
   if that function was woken. *)

let wait_for_thread () =
  let box = Concord.Mvar.create_empty () in
  let put () = Concord.Mvar.put box () in
  let (_ : Thread.t) = Thread.create put () in
  Concord.Mvar.take box

let refused () =
  match Concord.Mvar.take (Concord.Mvar.create_empty ()) with
  | () -> false
  | exception Concord_async.In_job -> true

let run () =
  at_exit (fun () ->
      wait_for_thread ();
      Concord.Event.sync (Concord.Event.timeout 0.001);
      Unix._exit 0);
  let job () =
    if not (refused ()) then prerr_endline "a job is not refused" else exit 1
  in
  Async.upon (Async.Scheduler.yield ()) job;
  Core.never_returns (Async.Scheduler.go ())
