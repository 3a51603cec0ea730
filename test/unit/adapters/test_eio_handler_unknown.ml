(* The cases of Eio where the stub in C tells nothing, as with a compiler that it does not
   know: each wait in a fiber performs [Suspend], which comes back. *)

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
    (Eio_cases.suites @ [ ("stub", [ test "tells nothing" is_unknown ]) ])
