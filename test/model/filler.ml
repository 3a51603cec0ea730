(* No waits are kept: see [Waits]. *)

let add_thread ~is_resolved:_ _ = ()
