(* The exception is the host's cancellation, or a signal handler's. If it is a cancellation,
   the host raises it again in the task's next wait, so the answer need not be dropped for
   it. *)
let await ?(start = ignore) promise ~stop ~is_answer =
  match
    start ();
    Promise.await_result promise
  with
  | Ok _ | Error _ -> Promise.await promise
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      stop ();
      match Suspend.protect (fun () -> Promise.await_result promise) with
      | outcome when is_answer outcome && Suspend.is_cancelled () ->
          Promise.await promise
      | Ok _ | Error _ | (exception _) ->
          Printexc.raise_with_backtrace e backtrace)
