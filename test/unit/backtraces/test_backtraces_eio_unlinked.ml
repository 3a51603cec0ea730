(* Backtraces of tasks of Eio that are reached through [Domain_local_await]. The text is in
   [test_backtraces_eio_unlinked.expected]. *)

let () =
  Printexc.record_backtrace true;
  Eio_traces.eio "eio, no plug-in"
