(* ./dev exec kpn --style trampoline -n 1000 *)

let () =
  Lwc_command.main ~name:"kpn" ~default:1000 ~largest:Lwc.Kpn.max_n
    ~doc:"compute the numbers 2^a 3^b 5^c with a Kahn process network"
    ~size:"The number of results."
    (module Lwc.Kpn)
