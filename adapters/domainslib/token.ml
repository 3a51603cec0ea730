module Promise = Concord.Promise
module Event = Concord.Event

type t = { job : unit Promise.t; pool : unit Promise.t }

let create ~pool = { job = Promise.create (); pool }
let stop { job; _ } = ignore (Promise.try_fill job () : bool)

let is_stopped { job; pool } =
  Promise.is_resolved job || Promise.is_resolved pool

let stopped_evt { job; pool } =
  Event.choose [ Promise.await_evt job; Promise.await_evt pool ]
