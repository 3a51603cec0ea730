(* As in [Reach], the model's host handles [Suspend]. *)

open Concord_suspend

type host = Suspends | Parks

let yield () = Reach.suspend (fun _ -> Some ())
let let_host_run = yield

let probe { Probe.passing } =
  let effect_ = Suspend (fun _ -> Some ()) in
  passing effect_;
  match Effect.perform effect_ with () -> Suspends
