let max_frames = 20

(* This doesn't use the channel [stderr], because a callback may call it in a thread that has
   locked the channel. *)
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

let locked_twice t (owner : Holder.t) =
  raise
    (Sys_error
       (Printf.sprintf
          "Mutex.lock: %s has already locked %s, and would wait for itself \
           forever. It was locked here:%s"
          (Who.to_string owner.by) (mutex t) (frames owner.held_at)))

let report_ended t (owner : Holder.t) =
  report
    (Printf.sprintf
       "Mutex.lock: %s was locked by a task that has ended since, %s, here:%s\n\
        Perhaps no task will ever unlock it"
       (mutex t) (Who.to_string owner.by) (frames owner.held_at))

(* While a mutex is handed over, its state already names the next task. That task may refuse
   the mutex because it was cancelled, so [Holder.is_held] is checked first.

   Since the owner was read, it may have unlocked the mutex and then have ended. So an owner
   that has ended is reported only if it [still_holds] the mutex. *)
let before_lock t (owner : Holder.t) (caller : Holder.t) ~still_holds =
  if Holder.is_held owner then begin
    if Who.same owner.by caller.by && Extent.is_certain caller.by then
      locked_twice t owner;
    if Who.has_ended owner.by && still_holds owner then report_ended t owner
  end

(* Returns [true] if the two are certainly different. If the caller is known only as a thread,
   the owner may be a task in the loop of this thread. If the caller is a task, the owner may
   be the thread whose loop runs it. *)
let is_other (by : Who.t) (owner : Who.t) =
  Who.is_known by && Who.is_known owner
  && (not (Who.same by owner))
  && (by.host <> "" || owner.host = "")
  && not (by.host <> "" && Who.same owner (Who_is.this_thread ()))

let before_unlock t (owner : Holder.t) =
  let by = Extent.task () in
  if is_other by owner.by then
    report
      (Printf.sprintf
         "Mutex.unlock: %s unlocks %s, but it was locked by another task, %s, \
          here:%s\n\
          The mutex is unlocked nevertheless"
         (Who.to_string by) (mutex t) (Who.to_string owner.by)
         (frames owner.held_at))
