(* ./dev exec chain --style trampoline -n 1000000 *)

let () =
  Lwc_command.main ~name:"chain" ~default:1000000
    ~doc:"counts up to a number, by as many threads in a row"
    ~size:"How many threads."
    (module Lwc.Chain)
