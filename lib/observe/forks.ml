let max_frames = 20

(* [Sys.opaque_identity] keeps this from ending in a call, because the compiler would put a
   polling point before that. Handlers that have been given a continuation call this, and no
   signal handler may raise there. *)
let[@inline] are_observed () =
  Sys.opaque_identity (Waits.are_kept () || Tracing.is_on ())

let here ~parent = { Who.parent; forked_at = Printexc.get_callstack max_frames }

let run { Who.parent; forked_at } ~ask f =
  if Tracing.is_on () then
    Tracing.forked ~parent ~at:(Call_site.line forked_at) ~ask f
  else f ()
