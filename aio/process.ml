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
let closing fds = List.iter close_quietly fds

let kill pid =
  try Unix.kill pid Sys.sigkill
  with Unix.Unix_error _ -> (* it has ended *) ()

(* [f] may have closed its ends. *)
let talk pid ends f =
  match Ensure.finally closing ends (fun _ -> f ()) ends with
  | v -> v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      kill pid;
      ignore
        (Concord.Tasks.protect (fun () -> waitpid [] pid)
          : int * Unix.process_status);
      Printexc.raise_with_backtrace e backtrace

let with_process ?env program args f =
  let its_input, to_it = Unix.pipe ~cloexec:true () in
  let from_it, its_output =
    try Unix.pipe ~cloexec:true ()
    with e ->
      closing [ its_input; to_it ];
      raise e
  in
  let env = match env with Some env -> env | None -> Unix.environment () in
  match
    Unix.create_process_env program args env its_input its_output Unix.stderr
  with
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      closing [ its_input; its_output; to_it; from_it ];
      Printexc.raise_with_backtrace e backtrace
  | pid ->
      let start () =
        closing [ its_input; its_output ];
        f to_it from_it
      in
      let v = talk pid [ to_it; from_it ] start in
      (v, snd (waitpid [] pid))
