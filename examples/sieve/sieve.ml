(* ./dev exec sieve --style trampoline -n 1000 *)

let () =
  Lwc_command.main ~name:"sieve" ~default:1000 ~largest:1_000_000
    ~doc:"compute primes with a sieve of threads" ~size:"The number of primes."
    (module Lwc.Sieve)
