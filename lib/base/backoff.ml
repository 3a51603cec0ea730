(* Without the pauses two domains take 2.0 to 2.5 times as long to lock for reading, or to take
   permits, and 1.3 to 1.9 times for [Mvar.modify]. Without the doubling two domains take 0.93
   to 1.08 of the time; it is for more of them, which was not measured. *)
let first = 32
let most = 128

let[@inline never] wait pauses =
  for _ = 1 to pauses do
    Domain.cpu_relax ()
  done;
  Int.min most (2 * pauses)
