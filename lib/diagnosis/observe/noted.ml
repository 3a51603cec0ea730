let traced who targets suspend block =
  if Observer.is_traced () then
    Tracing.during ~who ~ask:Identify.waker targets suspend block
  else suspend block

let wait ~who targets suspend block =
  if Observer.are_kept () then
    Waits.during ~who targets (traced who targets suspend) block
  else traced who targets suspend block

let operation ~host target block =
  let block, over =
    if Observer.are_kept () then Waits.operation ~host target block
    else (block, ignore)
  in
  let block, told =
    if Observer.is_traced () then
      Tracing.operation ~host ~ask:Identify.waker target block
    else (block, ignore)
  in
  let block, measured =
    if Observer.measures () then Measures.operation target block
    else (block, ignore)
  in
  let ended error =
    over ();
    told error;
    measured ()
  in
  (block, ended)
