(* The Eio cases with a stub in C that gives no answer, as it does with a compiler that it
   doesn't know. Then each wait in a fiber performs [Suspend], which Eio doesn't handle. *)

open Concord_test_support
open Check

let () = Concord_stub.Innermost_handler.give_up ()

let is_unknown () =
  Eio_cases.main
    (fun () ->
      for _ = 1 to 3 do
        let promise = Concord.Promise.create () in
        Eio.Fiber.both
          (fun () -> Concord.Promise.await promise)
          (fun () -> Concord.Promise.fill promise ())
      done)
    ();
  no "known" (Concord.Private.Plugin.knows_handler ())

let () =
  run "Eio, whose handler is unknown"
    (Eio_cases.suites
    @ [
        Concord_test_hosts.Wait_cases.on Eio_hosts.fibers;
        ("stub", [ test "gives no answer" is_unknown ]);
      ])
