(* The tests trace this program while it runs. Two threads wait for each other in turn, until a
   file "enough" exists. A file "seen" exists from the moment when they have done so often
   enough under a trace, until the trace ends. *)

open Concord

let there = Mvar.create_empty ~name:"there" ()
let back = Mvar.create_empty ~name:"back" ()

let rec echo () =
  if Mvar.take there then begin
    Mvar.put back ();
    echo ()
  end

let often = 20

let rec meet traced =
  if not (Sys.file_exists "enough") then begin
    Mvar.put there true;
    Mvar.take back;
    Unix.sleepf 0.001;
    let is_on = Tools.Trace.is_on () in
    if is_on && traced = often then Out_channel.with_open_bin "seen" ignore;
    if (not is_on) && traced > often then Sys.remove "seen";
    meet (if is_on then traced + 1 else 0)
  end

let () =
  if Sys.argv <> [| Sys.argv.(0); "by-variable" |] then
    Tools.Trace.on_signal Sys.sigusr2;
  let thread = Thread.create echo () in
  Out_channel.with_open_bin "ready" ignore;
  meet 0;
  Mvar.put there false;
  Thread.join thread
