(* If the exception is the host's cancellation, the host raises it again in the task's next
   wait, so the answer need not be dropped for it. *)
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

let call ~cancelled ~is_answer ~post ~cancel =
  let promise = Promise.create () in
  (* Decides whether the function begins, or is cancelled before that. In the second case the
     caller need not wait for the loop. *)
  let taken = Decision.create () in
  let begins () = Decision.decide taken (Ok ()) in
  let stop () =
    if begins () then ignore (Promise.try_fail promise cancelled : bool)
    else cancel ()
  in
  await ~start:(fun () -> post promise ~begins) promise ~stop ~is_answer
