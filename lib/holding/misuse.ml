let max_frames = 20

(* Not through the channel: a signal handler may run in a thread that has locked it. *)
let write text =
  try
    ignore (Unix.write_substring Unix.stderr text 0 (String.length text) : int)
  with Unix.Unix_error _ -> ()

let frames backtrace =
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
       (frames (Printexc.get_callstack max_frames)))

let called otherwise structure =
  Option.value ~default:otherwise
    (Labels.describe (Identity.strong_pointer structure))

let mutex t = called "a mutex" t

let locked_twice t (owner : Waits.holder) =
  raise
    (Sys_error
       (Printf.sprintf
          "Mutex.lock: %s has locked %s before, and waits for itself. It was \
           locked here:%s"
          (Who.to_string owner.by) (mutex t) (frames owner.held_at)))

let report_ended t (owner : Waits.holder) =
  report
    (Printf.sprintf
       "Mutex.lock: %s was locked by a task that has ended since, %s, here:%s\n\
        Nobody may ever unlock it"
       (mutex t) (Who.to_string owner.by) (frames owner.held_at))

(* A mutex that is handed over has the name of the next task already, which may refuse it
   because it was cancelled.

   An owner may have unlocked since it was read, and then have ended. *)
let before_lock t (owner : Waits.holder) (caller : Waits.holder) ~still_holds =
  if Waits.is_held owner then begin
    if Who.same owner.by caller.by && Extent.is_certain caller.by then
      locked_twice t owner;
    if Who.has_ended owner.by && still_holds owner then report_ended t owner
  end

(* A thread may be the loop in which the owner runs, or that in which the caller does. *)
let is_other (by : Who.t) (owner : Who.t) =
  Who.is_known by && Who.is_known owner
  && (not (Who.same by owner))
  && (by.host <> "" || owner.host = "")
  && not (by.host <> "" && Who.same owner (Who.of_thread ()))

let before_unlock t (owner : Waits.holder) =
  let by = Extent.task () in
  if is_other by owner.by then
    report
      (Printf.sprintf
         "Mutex.unlock: %s unlocks %s, which another task has locked: %s, \
          here:%s\n\
          It is unlocked all the same"
         (Who.to_string by) (mutex t) (Who.to_string owner.by)
         (frames owner.held_at))
