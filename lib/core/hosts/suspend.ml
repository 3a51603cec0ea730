include Concord_suspend

exception Never_resumed = Leaks.Never_resumed
exception In_handler = Park.In_handler

let suspend = Reach.suspend
let protect = Reach.protect
let yield = Asking.yield

let is_cancelled () =
  match Asking.probe { passing = ignore } with
  | Suspends | Parks -> false
  | exception _ -> true
