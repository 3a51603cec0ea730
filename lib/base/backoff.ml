(* Both parts were measured with two domains. Without the pauses, locking for reading and
   taking permits take 2.0 to 2.5 times as long, and [Mvar.modify] takes 1.3 to 1.9 times as
   long. Without the doubling they take 0.93 to 1.08 of the time, so it gains nothing there.
   The doubling is for more domains, which was not measured. *)
let first = 32
let most = 128

let[@inline never] wait pauses =
  for _ = 1 to pauses do
    Domain.cpu_relax ()
  done;
  Int.min most (2 * pauses)
