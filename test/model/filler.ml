(* No waits are kept: see [Waits]. *)

let add_thread ?origin:(_ : Who.origin option) ~is_resolved:_ _ = ()
