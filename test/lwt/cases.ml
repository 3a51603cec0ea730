(* Every operation that may wait, in monadic style and in direct style. *)

open Concord_test_support

let monadic = In_lwt.Each.all ()
let direct = Waits.direct ()
