(* A traced atomic is no field: here it is a block of its own. *)
type 'a outcome = 'a Decision.t
type promise = unit Promise.t

let undecided () = Decision.create ()
let unresolved () = Promise.create ()
let first block = Obj.obj (Obj.field (Obj.repr block) 0)
