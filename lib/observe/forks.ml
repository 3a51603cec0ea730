let max_frames = 20

(* Unbroken, because handlers that have been given a continuation call this. So it doesn't end
   in a call. *)
let[@inline] are_observed () =
  Sys.opaque_identity (Waits.are_kept () || Tracing.is_on ())

let here ~parent = { Who.parent; forked_at = Printexc.get_callstack max_frames }

let run { Who.parent; forked_at } ~ask f =
  if Tracing.is_on () then
    Tracing.forked ~parent ~at:(Call_site.line forked_at) ~ask f
  else f ()
