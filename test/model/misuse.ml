(* The models report no misuse. *)

let report (_ : string) = ()
let called otherwise _ = otherwise
let frames _ = ""
let before_unlock _ (_ : Waits.holder) = ()

let before_lock _ (owner : Waits.holder) (caller : Waits.holder) ~still_holds:_
    =
  if Waits.is_held owner && Who.same owner.by caller.by then
    raise (Sys_error "locked twice")
