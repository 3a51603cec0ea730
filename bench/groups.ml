(** Every group that there is. *)

let all = [ Bench_mvar.group; Bench_suspend.group ]
