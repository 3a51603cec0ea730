let warn sentence =
  Debug_helpers.write (Printf.sprintf "concord: %s\n" sentence)

let unless_impossible word f =
  try f ()
  with
  | (Invalid_argument _ | Unix.Unix_error _ | Sys_error _ | Failure _) as e ->
    warn
      (Printf.sprintf "CONCORD_DEBUG=%s has no effect: %s" word
         (Printexc.to_string e))

let start () =
  List.iter warn (Debugging.mistakes ());
  if Debugging.has "leaks" then unless_impossible "leaks" Leak_search.start;
  Option.iter
    (fun file ->
      unless_impossible "sigquit" (fun () ->
          Debug_signal.dump_on ~form:(Json file) Sys.sigquit))
    (Debugging.json "sigquit");
  if Debugging.has "sigquit" then
    unless_impossible "sigquit" (fun () -> Debug_signal.dump_on Sys.sigquit);
  if Debugging.has "sigusr2" then
    unless_impossible "sigusr2" (fun () -> Tracing.on_signal Sys.sigusr2);
  Option.iter
    (fun seconds ->
      unless_impossible "stall" (fun () -> Debug_stall.watch seconds))
    (Debugging.seconds "stall");
  Option.iter
    (fun seconds ->
      unless_impossible "slow" (fun () -> Debug_slow.watch seconds))
    (Debugging.seconds "slow")
