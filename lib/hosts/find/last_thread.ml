(* Its stack keeps alive what a thread waits in: so the collector cannot find it. But the
   last thread of a program is known to be lost. A loop that sleeps tells its tasks; those
   that the collector finds are resumed before, and the loop with them. *)
let[@inline never] or_tell block resumer =
  let found = block resumer in
  if
    Option.is_none found
    && not (Others.may_wake ~asleep:0 || Others.handle_signals ())
  then
    if Leaks.is_of_loop block then begin
      Leaks.before_sleep ();
      ignore (resumer (Error Leaks.Never_resumed) : bool)
    end
    else Leaks.tell_last_thread resumer;
  found

(* The same where nobody asked for it: in a program that has never had anything else. *)
let[@inline never] or_tell_only block resumer =
  let found = block resumer in
  if Option.is_none found && Others.is_alone () then
    ignore (resumer (Error Leaks.Never_resumed) : bool);
  found
