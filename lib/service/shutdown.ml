(* [main] runs as a task of a scope. When [stop] is resolved or [main] has ended, the calling
   task calls the functions of [close]. If all of this has not ended [grace] seconds later, the
   scope is cancelled. *)
type 'a ended = {
  value : 'a option;
  cut_short : bool;
  failures : (exn * Printexc.raw_backtrace) list;
}

(* A function that was cancelled has not failed. *)
let call failures close =
  try close ()
  with e -> (
    match Scope.cause e (Printexc.get_raw_backtrace ()) with
    | Cancellation _ -> ()
    | Failure (e, backtrace) -> failures := (e, backtrace) :: !failures)

let resolved promise = Event.wrap (Promise.await_result_evt promise) ignore

(* [rest] are the functions that have not been called yet. *)
let rec close_all failures rest =
  match !rest with
  | [] -> ()
  | close :: others ->
      rest := others;
      call failures close;
      close_all failures rest

let run ?(close = []) ~stop ~grace main =
  if not (grace >= 0.) then
    invalid_arg
      (Printf.sprintf "Shutdown.run: grace is %g, but must be at least 0" grace);
  let failures = ref [] and rest = ref close in
  let close_all () = close_all failures rest in
  let in_scope () =
    Scope.run (fun scope ->
        let ended = Scope.fork_promise scope main in
        match
          Event.select [ resolved ended; resolved stop ];
          Tasks.with_timeout grace (fun () ->
              close_all ();
              ignore (Promise.await_result ended : (_, exn) result))
        with
        | Some () -> (ended, false)
        | None ->
            Scope.cancel scope;
            (ended, true)
        | exception e ->
            let backtrace = Printexc.get_raw_backtrace () in
            (* This task was cancelled, so the functions can't wait. *)
            close_all ();
            Printexc.raise_with_backtrace e backtrace)
  in
  let ended, cut_short =
    match in_scope () with
    | result -> result
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        (* If this task was cancelled before, the scope has not begun [main], and no function
           was called. *)
        close_all ();
        Printexc.raise_with_backtrace e backtrace
  in
  let failures = List.rev !failures in
  match Promise.peek ended with
  | Some (Ok v) -> { value = Some v; cut_short; failures }
  | Some (Error Scope.Cancelled) when cut_short ->
      { value = None; cut_short; failures }
  | Some (Error _) | None ->
      let v = Promise.await ended in
      { value = Some v; cut_short; failures }
