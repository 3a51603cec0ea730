(* The page decisions.mld has what the pauses gain. The doubling is for more than two domains,
   which was not measured. *)
let first = 32
let most = 128

let[@inline never] wait pauses =
  for _ = 1 to pauses do
    Domain.cpu_relax ()
  done;
  Int.min most (2 * pauses)
