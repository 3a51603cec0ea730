(* ./dev exec kpn --style trampoline -n 1000 *)

let () =
  Lwc_command.main ~name:"kpn" ~default:1000
    ~doc:"the numbers 2^a 3^b 5^c, by a Kahn process network"
    ~size:"How many numbers."
    (module Lwc.Kpn)
