let () =
  if Debugging.has "leaks" then begin
    Debug_frames.load ();
    Observer.(start leaks)
  end

(* This doesn't write to the channel [stderr], because the finaliser may run in a thread that
   has locked it. A report that can't be written is dropped, but the task is resumed in any
   case. *)
let report what waits_at =
  let text =
    Printf.sprintf "concord: %s. The task waits here:\n%s" what
      (Printexc.raw_backtrace_to_string waits_at)
  in
  try
    ignore (Unix.write_substring Unix.stderr text 0 (String.length text) : int)
  with Unix.Unix_error _ -> ()

(* The finaliser gets the guard as its argument, and its closure must not refer to the guard or
   to [resumer]. Otherwise the finaliser would keep them alive, because they may keep the task
   alive, and the task may keep the guard alive. The finaliser may run in any thread, so it
   does only what a resumer may do. [resumer] decides whether the task still waits. *)
let guard waits_at resumer =
  let waits_at = waits_at () and resumed = Atomic.make false in
  let guard outcome =
    resumer outcome
    && begin
      if Atomic.exchange resumed true then
        report "a resumer of a task returned true twice, but H3 allows it once"
          waits_at;
      true
    end
  in
  Gc.finalise
    (fun guard ->
      if (not (Atomic.get resumed)) && guard (Error Leaks.Never_resumed) then
        report
          "nothing can resume this task any longer, because its resumer was \
           garbage-collected"
          waits_at)
    guard;
  guard

let lost waits_at =
  report
    "nothing can resume this task any longer, because no other thread is left"
    (waits_at Leaks.max_frames)
