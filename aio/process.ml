(* A process may take any time, so it must not keep a thread from those that read files. *)
let threads = Concord.Blocking.create ~name:"processes" ~threads:64 ()

let in_thread flags pid =
  Concord.Blocking.run ~pool:threads (fun () -> Unix.waitpid flags pid)

let by_descr flags pid fd =
  Concord.Event.sync (Readiness.evt fd Read);
  match Unix.waitpid (WNOHANG :: flags) pid with
  | 0, _ -> (* the descriptor can't be waited for *) in_thread flags pid
  | ended -> ended

let waitpid flags pid =
  if List.mem Unix.WNOHANG flags then Unix.waitpid flags pid
  else
    match if pid > 0 && flags = [] then Native.process_descr pid else None with
    | None -> in_thread flags pid
    | Some fd -> Ensure.finally Io.close fd (by_descr flags pid) fd

let close_quietly fd = try Io.close fd with Unix.Unix_error _ -> ()

let kill pid =
  try Unix.kill pid Sys.sigkill
  with Unix.Unix_error _ -> (* it has ended *) ()

(* The ends are channels, because [f] may close them. A descriptor that [f] has closed may belong
   to another file by now, so it must not be closed again. What wasn't written is dropped if [f]
   fails. *)
let talk pid oc ic f =
  let talk () =
    let v = f oc ic in
    Output_channel.close_out oc;
    v
  in
  match Ensure.finally Input_channel.close_in_noerr ic talk () with
  | v -> (v, snd (waitpid [] pid))
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      kill pid;
      Output_channel.drop_out oc;
      ignore
        (Concord.Tasks.protect (fun () -> waitpid [] pid)
          : int * Unix.process_status);
      Printexc.raise_with_backtrace e backtrace

let with_process ?env program args f =
  let failed = function
    | Unix.Unix_error (error, _, _) ->
        Unix.Unix_error (error, "with_process", program)
    | e -> e
  in
  (* [opened] are closed if [start] fails. *)
  let closing_on_failure opened start =
    try start ()
    with e ->
      let backtrace = Printexc.get_raw_backtrace () in
      List.iter close_quietly opened;
      Printexc.raise_with_backtrace (failed e) backtrace
  in
  let pipe () = Unix.pipe ~cloexec:true () in
  let its_input, to_it = closing_on_failure [] pipe in
  let from_it, its_output = closing_on_failure [ its_input; to_it ] pipe in
  let env = match env with Some env -> env | None -> Unix.environment () in
  let pid =
    closing_on_failure [ its_input; its_output; to_it; from_it ] (fun () ->
        Unix.create_process_env program args env its_input its_output
          Unix.stderr)
  in
  List.iter close_quietly [ its_input; its_output ];
  let oc = Output_channel.out_channel_of_descr to_it in
  talk pid oc (Input_channel.in_channel_of_descr from_it) f
