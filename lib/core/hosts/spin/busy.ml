(* In a cache line of its own, because it changes while all threads that are about to spin read it. *)
let count = Atomic.make_contended 0
let one_more () = ignore (Atomic.fetch_and_add count 1 : int)
let one_less () = ignore (Atomic.fetch_and_add count (-1) : int)
let workers () = Atomic.get count
let cores = Domain.recommended_domain_count ()
let[@inline] fill_cores () = Atomic.get count >= cores
