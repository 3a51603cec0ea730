(* Writes the files of a simulated minute, with too many events for them. *)

open Concord_trace

let () =
  let int n = int_of_string Sys.argv.(n) in
  let seconds = int 1 and per_second = int 2 and most = int 3 in
  let kept = Kept.create ~most () and live = Live.create () in
  Minute.iter ~seconds ~per_second
    ~poll:(fun () -> Kept.trim kept)
    (fun item ->
      Kept.add kept item;
      Live.add live item);
  let t = Kept.timeline kept and names = [ (1, "minute") ] in
  Out_channel.with_open_bin Sys.argv.(4) (fun channel ->
      Page.write channel ~title:"a minute" ~names ~lost:0
        ~profile:(Live.profile live) t);
  Out_channel.with_open_bin Sys.argv.(5) (fun channel ->
      Perfetto.write channel ~names ~lost:0 t)
