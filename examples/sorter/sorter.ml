(* ./dev exec sorter --style trampoline -n 300 *)

let () =
  Lwc_command.main ~name:"sorter" ~default:300
    ~doc:"sorts, by a thread for each comparison"
    ~size:"How many numbers; there are N (N - 1) / 2 threads."
    (module Lwc.Sorter)
