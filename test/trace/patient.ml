(* Traced by the tests. A program that prints which signal it received, and ends at the first
   one. *)

let () =
  let told signal name =
    Sys.set_signal signal
      (Signal_handle
         (fun _ ->
           print_endline name;
           exit 7))
  in
  told Sys.sigint "interrupted";
  told Sys.sigquit "asked to quit";
  told Sys.sigusr1 "told";
  Concord.Scope.run ignore;
  Out_channel.with_open_bin "ready" ignore;
  Unix.sleepf 20.
