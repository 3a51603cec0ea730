(* ./dev exec sieve --style trampoline -n 1000 *)

let () =
  Lwc_command.main ~name:"sieve" ~default:1000 ~largest:1_000_000
    ~doc:"the primes, by a sieve of threads" ~size:"How many primes."
    (module Lwc.Sieve)
