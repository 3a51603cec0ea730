(* Operations in monadic style, and direct style in callbacks. *)

open Concord_test_hosts
module Plain = Promise_cases.Make (In_lwt.Plain)
module Threads = Promise_threads.Make (In_lwt.Library)

module Callbacks =
  Promise_callbacks.Make (In_lwt.Library) ((val In_lwt.refusal))

module Plain_callbacks =
  Promise_callbacks.Make (In_lwt.Plain) ((val In_lwt.refusal))

let () =
  let _, in_lwt_main = Plain.waiting [] in
  Concord_test_support.Check.run "Concord_lwt, operations"
    [
      In_lwt.waiting In_lwt.wakers;
      ("each operation, in Lwt_main.run", in_lwt_main);
      In_lwt.results;
      ("direct style in a callback", Callbacks.all);
      ("other threads", Threads.in_other_threads);
      ("direct style in a callback of Lwt_main.run", Plain_callbacks.all);
    ]
