(* Nothing is told. *)

let report (_ : string) = ()
let called otherwise _ = otherwise
let place _ = ""
let unlocked_by_other _ (_ : Waits.holder list) = ()

let told_before tell act =
  tell ();
  act ()

let before_lock _ owners callers =
  let is_other (a : Waits.holder) (b : Waits.holder) =
    not (Who.same a.by b.by)
  in
  if List.exists (fun a -> not (List.for_all (is_other a) callers)) owners then
    raise (Sys_error "locked twice")
