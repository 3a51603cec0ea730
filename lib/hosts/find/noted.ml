let traced who places suspend block =
  if Tracing.is_on () then
    Tracing.during ~who ~ask:Identify.waker places suspend block
  else suspend block

let wait ~who places suspend block =
  if Waits.are_kept () then
    Waits.during ~who places (traced who places suspend) block
  else traced who places suspend block

let operation ~host place block =
  let block, over =
    if Waits.are_kept () then Waits.operation ~host place block
    else (block, ignore)
  in
  let block, told =
    if Tracing.is_on () then
      Tracing.operation ~host ~ask:Identify.waker place block
    else (block, ignore)
  in
  let ended error =
    over ();
    told error
  in
  (block, ended)
