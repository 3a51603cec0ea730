let has_host () =
  match Reach.probe { passing = ignore } with
  | Suspends -> true
  | Parks -> false
  | exception _ -> (* the host's cancellation *) true

let may_exist ~asleep = Others.may_wake ~asleep || has_host ()
