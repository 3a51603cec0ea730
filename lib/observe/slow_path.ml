(* Each reason is a bit of [reasons]. *)
type reason = int

let leaks = 1
let waits = 2
let trace = 4
let takers = 8

let all =
  [ ("leaks", leaks); ("waits", waits); ("trace", trace); ("takers", takers) ]

let reasons = Atomic.make 0
let[@inline] has reason = Atomic.get reasons land reason <> 0
let[@inline] is_taken () = Atomic.get reasons <> 0
let add reason = Atomically.update reasons (fun before -> before lor reason)

let remove reason =
  Atomically.update reasons (fun before -> before land lnot reason)
