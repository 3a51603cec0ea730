(* Every operation that may wait, in monadic style and in direct style. *)

open Concord
open Concord_test_support

module Monadic = Waits.Make (struct
  type 'a promise = 'a Lwt.t

  let return = Lwt.return
  let map = Lwt.map

  include Concord_lwt
end)

let to_lwt () =
  Waits.for_promise (fun p -> Lwt.map (( = ) 1) (Concord_lwt.to_lwt p))

let monadic = ("to_lwt", to_lwt) :: Monadic.all ()
let direct = Waits.direct ()

(* Code of another file than the callback that calls it. *)
let[@inline never] of_a_library box =
  let v = Mvar.take box in
  Sys.opaque_identity v
