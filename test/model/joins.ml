(* The models record no joins. *)

let who_is (task : Task.t) = Who.make ~host:"fifo" ~name:"a task" task
let who = who_is
let target (scope : Task.scope) = Target.make "" scope (fun _ -> [])
let fills (_ : Task.t) (_ : _ Promise.t) = ()
let sleep (_ : Task.scheduler) suspend block = suspend block
