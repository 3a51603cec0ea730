(* A library in direct style. Its user doesn't know that it uses Concord. *)

open Concord

let[@inline never] get () =
  let v = Promise.await (Promise.create ()) in
  Sys.opaque_identity (v + 1)

let[@inline never] get_in_time () =
  let v = Tasks.with_timeout 1. get in
  Sys.opaque_identity v
