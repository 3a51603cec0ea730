(* What the cells of structures share. *)

let messages = 100

(* Blocks its host, on purpose: the other one is on another domain. *)
let until_somebody_waits waiters =
  while waiters () = 0 do
    Domain.cpu_relax ()
  done
