let tasks = Atomic.make 0
let[@inline] may_be () = Atomic.get tasks > 0

type _ Effect.t += Cancelled : (unit -> exn) option Effect.t

let cancelled () = Option.join (Reach.question Cancelled ~otherwise:None)
let enter () = ignore (Atomic.fetch_and_add tasks 1 : int)
let leave () = ignore (Atomic.fetch_and_add tasks (-1) : int) (* unbroken *)
