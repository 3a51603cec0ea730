(* A wait has its decision, and a task the promise of its end, as the first field: a block
   and a pointer less for each, together 32 bytes of a task that waits, and one allocation
   less in each suspension and each fork. An [Atomic.t] is a block whose first field is
   what its operations work on, whatever comes after that; nothing else writes the field
   once the block is made. (OCaml 5.4 has atomic fields; 5.1 to 5.3 have not.) *)
type 'a outcome = ('a, exn) result
type promise = unit Promise.state

let[@inline] undecided () = Decision.undecided
let[@inline] unresolved () : promise = Promise.unresolved

external first : 'block -> 'atomic = "%identity"
