(* Every operation that may wait, in monadic style and in direct style. *)

open Concord
open Concord_test_support

let monadic = In_lwt.Each.all ()
let direct = Waits.direct ()

(* Code of another file than the callback that calls it. *)
let[@inline never] of_a_library box =
  let v = Mvar.take box in
  Sys.opaque_identity v
