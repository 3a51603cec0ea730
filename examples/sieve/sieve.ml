(* ./dev exec sieve --style trampoline -n 1000 *)

let () =
  Lwc_command.main ~name:"sieve" ~default:1000
    ~doc:"the primes, by a sieve of threads" ~size:"How many primes."
    (module Lwc.Sieve)
