(* Places where no effect is handled, so nothing may wait. *)

let caught f =
  match f () with
  | () -> None
  | exception e -> Some (e, Printexc.get_raw_backtrace ())

let finish what result =
  Check.eventually what (fun () -> Option.is_some !result);
  match Option.get !result with
  | Some (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | None -> ()

let in_signal_handler f =
  let result = ref None in
  let handler (_ : int) = result := Some (caught f) in
  let before = Sys.signal Sys.sigusr1 (Signal_handle handler) in
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  Fun.protect
    (fun () -> finish "the handler ran" result)
    ~finally:(fun () -> Sys.set_signal Sys.sigusr1 before)

let[@inline never] drop f result =
  Gc.finalise (fun _ -> result := Some (caught f)) (ref 0)

let in_finaliser f =
  let result = ref None in
  drop f result;
  Gc.full_major ();
  finish "the finaliser ran" result

(* A suite for tests of operations that never suspend. *)
let suite f =
  ( "without any scheduler",
    [
      Check.test "in a plain thread" (fun () -> Check.in_thread f);
      Check.test "in a signal handler" (fun () -> in_signal_handler f);
      Check.test "in a finaliser" (fun () -> in_finaliser f);
    ] )
