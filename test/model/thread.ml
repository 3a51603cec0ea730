(* The processes of a model are threads of one domain. *)

type t = int

let self () = !Atomic.current
let id t = t
