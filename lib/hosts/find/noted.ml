let traced who targets suspend block =
  if Tracing.is_on () then
    Tracing.during ~who ~ask:Identify.waker targets suspend block
  else suspend block

let wait ~who targets suspend block =
  if Waits.are_kept () then
    Waits.during ~who targets (traced who targets suspend) block
  else traced who targets suspend block

let operation ~host target block =
  let block, over =
    if Waits.are_kept () then Waits.operation ~host target block
    else (block, ignore)
  in
  let block, told =
    if Tracing.is_on () then
      Tracing.operation ~host ~ask:Identify.waker target block
    else (block, ignore)
  in
  let ended error =
    over ();
    told error
  in
  (block, ended)
