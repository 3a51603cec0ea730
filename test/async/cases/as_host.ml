(* Runs the suite for hosts on code in direct style in Async. *)

let run () =
  Concord_test_own.Own.test [ (module Concord_test_async.Async_host) ]
