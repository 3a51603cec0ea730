(* The models record no waits (see [waits.ml]). *)

let add_thread ?origin:(_ : Who.origin option) ~is_resolved:_ _ = ()
let add _ ~is_resolved:_ _ = ()
