let rec update t f =
  let before = Atomic.get t in
  let after = f before in
  if after != before && not (Atomic.compare_and_set t before after) then
    (* somebody else changed it *)
    update t f

let rec update_surely t f =
  try update t f
  with e ->
    (* a signal handler's, before the state was replaced *)
    update_surely t f;
    raise e
