open Results
include Monitor_spec

type t = { mutex : Mutex.t; condition : Condition.t }

let create () = { mutex = Mutex.create (); condition = Condition.create () }
let permitted f = try unit (f ()) with Sys_error _ -> "not permitted"

let call { mutex; condition } = function
  | Lock -> unit (Mutex.lock mutex)
  | Unlock -> permitted (fun () -> Mutex.unlock mutex)
  | Wait -> permitted (fun () -> Condition.wait condition mutex)
  | Signal -> unit (Condition.signal condition)
  | Broadcast -> unit (Condition.broadcast condition)
  | Sleep | Lock_again _ -> assert false (* not chosen *)

let event _ _ = None

let try_call { mutex; _ } = function
  | Lock -> tried_bool (Mutex.try_lock mutex)
  | Unlock | Wait | Sleep | Lock_again _ | Signal | Broadcast -> None

let waiters t = Mutex.waiters t.mutex + Condition.waiters t.condition
