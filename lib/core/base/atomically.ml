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
