(* Helpers for the cells of structures. *)

let messages = 100

(* Blocks its host on purpose, which is possible because the other host is on another domain. *)
let until_somebody_waits waiters =
  while waiters () = 0 do
    Domain.cpu_relax ()
  done
