(* Writes the files of a simulated minute, with too many events for them. *)

open Concord_trace

let () =
  let int n = int_of_string Sys.argv.(n) in
  let kept, profile =
    Minute.kept ~seconds:(int 1) ~per_second:(int 2) ~most:(int 3)
  in
  let t = Kept.timeline kept and names = [ (1, "minute") ] in
  Out_channel.with_open_bin Sys.argv.(4) (fun channel ->
      Page.write channel ~title:"a minute" ~names ~lost:0 ~profile t);
  Out_channel.with_open_bin Sys.argv.(5) (fun channel ->
      Perfetto.write channel ~names ~lost:0 t)
