let max_frames = 20

(* Not through the channel: a signal handler may run in a thread that has locked it. *)
let write text =
  try
    ignore (Unix.write_substring Unix.stderr text 0 (String.length text) : int)
  with Unix.Unix_error _ -> ()

let place backtrace =
  let frames =
    match Debug_frames.of_program backtrace with
    | [] -> Debug_frames.all backtrace
    | frames -> frames
  in
  String.concat ""
    (List.map (fun frame -> "\n  " ^ Debug_frames.to_string frame) frames)

let report what =
  write
    (Printf.sprintf "concord: %s. Called here:%s\n" what
       (place (Printexc.get_callstack max_frames)))

let called otherwise structure =
  Option.value ~default:otherwise (Labels.describe (Identity.pointer structure))

let locked_twice mutex (owner : Waits.holder) =
  raise
    (Sys_error
       (Printf.sprintf
          "Mutex.lock: %s has locked %s before, and waits for itself. It was \
           locked here:%s"
          (Who.to_string owner.by) mutex (place owner.held_at)))

let tell_of_ended lock (owner : Waits.holder) =
  report
    (Printf.sprintf
       "%s was locked by a task that has ended since, %s, here:%s\n\
        Nobody may ever unlock it"
       lock (Who.to_string owner.by) (place owner.held_at))

let told_before tell act =
  match tell () with
  | () -> act ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      act ();
      Printexc.raise_with_backtrace e backtrace
