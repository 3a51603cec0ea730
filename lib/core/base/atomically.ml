let rec update t f =
  let before = Atomic.get t in
  let after = f before in
  if after != before && not (Atomic.compare_and_set t before after) then
    (* another thread changed [t] first *)
    update t f

let rec update_surely t f =
  try update t f
  with e ->
    (* unbroken *)
    update_surely t f;
    raise e

(* --- Backing off ------------------------------------------------------------ *)

(* The page decisions.mld has what the pauses gain. The doubling is for more than two domains,
   which was not measured. *)
let first_pauses = 32
let most_pauses = 128

let[@inline never] back_off pauses =
  for _ = 1 to pauses do
    Domain.cpu_relax ()
  done;
  Int.min most_pauses (2 * pauses)
