(* ./dev exec chain --style trampoline -n 1000000 *)

let () =
  Lwc_command.main ~name:"chain" ~default:1000000 ~largest:100_000_000
    ~doc:"count up to a number, with a row of as many threads"
    ~size:"The number of threads."
    (module Lwc.Chain)
