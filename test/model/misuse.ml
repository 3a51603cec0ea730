(* Nothing is told. *)

let report (_ : string) = ()
let called otherwise _ = otherwise
let place _ = ""
let before_unlock _ (_ : Waits.holder list) = ()

let before_lock _ owners callers =
  let is_other (a : Waits.holder) (b : Waits.holder) =
    not (Who.same a.by b.by)
  in
  if List.exists (fun a -> not (List.for_all (is_other a) callers)) owners then
    raise (Sys_error "locked twice")
