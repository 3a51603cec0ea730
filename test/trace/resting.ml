(* Marks two moments that are half a second apart. *)

let () =
  Concord.Tools.Trace.mark "mark first";
  Unix.sleepf 0.5;
  Concord.Tools.Trace.mark "mark second"
