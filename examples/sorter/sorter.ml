(* ./dev exec sorter --style trampoline -n 300 *)

let () =
  Lwc_command.main ~name:"sorter" ~default:300 ~largest:10_000
    ~doc:"sort numbers, with a thread for each comparison"
    ~size:"The number of numbers. The program starts N (N - 1) / 2 threads."
    (module Lwc.Sorter)
